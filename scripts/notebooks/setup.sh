#!/usr/bin/env bash
# Sets up what notebooks need below bin/jupyter, and nothing elsewhere:
#
#   env/   Python, with nbclient and nbconvert; with "lab", JupyterLab too
#   go/    gonb and goimports; with "lab", gopls too, for completion
#   data/  the kernel's description, which Jupyter finds by JUPYTER_DATA_DIR
#
# Versions are pinned in go.mod, requirements.txt and lab.txt beside this script.
# What is there already is left alone.
set -euo pipefail
cd "$(dirname "$0")"
home=$(cd ../.. && pwd)/bin/jupyter
go=${GO:-go}

pins=(requirements.txt)
tools=(github.com/janpfeifer/gonb golang.org/x/tools/cmd/goimports)
if [ "${1:-}" = lab ]; then
	pins+=(lab.txt)
	tools+=(golang.org/x/tools/gopls)
fi

py=$home/env/bin/python
if ! "$py" -c '' 2>/dev/null; then # missing, or the Python it was made from is gone
	rm -rf "$home/env"
	python3 -m venv "$home/env"
fi
for pin in "${pins[@]}"; do
	cmp -s "$pin" "$home/env/$pin" && continue
	echo "notebooks: installing $pin into bin/jupyter/env"
	"$py" -m pip install --quiet --disable-pip-version-check -r "$pin"
	cp "$pin" "$home/env/$pin"
done

mkdir -p "$home/go"
GOWORK=off "$go" build -o "$home/go/" "${tools[@]}"

# The description names the binary by its full path, so a checkout that was
# moved needs a new one. gonb asks for gopls, which only an editor needs.
log=$(./with.sh gonb --install --force_deps 2>&1) || {
	echo "$log" >&2
	exit 1
}
