package compare_test

import (
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// Six questions, four of which got better: of the 16 patterns of their signs
// two are as extreme.
func ExampleSignFlip() {
	t := compare.SignFlip([]float64{0.5, 0, 0.25, 1, 0, 0.5}, 10_000, 1)
	fmt.Println(t.P, t.Exact)
	// Output: 0.125 true
}

func ExampleHolm() {
	fmt.Println(compare.Holm([]float64{0.02, 1, 1, 1}))
	// Output: [0.08 1 1 1]
}

// How many questions does it take to find a change of recall of 0.03, when the
// change of a question varies by 0.3?
func ExampleNeeded() {
	fmt.Println(compare.Needed(0.3, 0.03, 0.05, compare.Power))
	// Output: 785
}
