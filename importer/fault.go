package importer

import (
	"fmt"
	"runtime"
	"strings"

	"claimsheet/mapping/problem"
)

// Caught makes a problem of the class Bug of what recover returned: a defect of Claimsheet. It says where it happened and of what kind
// it is, the runtime's words or the value's type, and leaves out the panic's value, which may be personal data or a secret. The hint
// has the stack, the innermost function first. Call it in the deferred function itself.
func Caught(value any) problem.Problem {
	kind := fmt.Sprintf("panic with a %T", value)
	if err, ok := value.(runtime.Error); ok {
		kind = err.Error() // made of numbers and types
	}
	var stack []string
	const skip, most = 3, 32 // runtime.Callers, Caught, the deferred function
	var callers [most]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(skip, callers[:])])
	for more := true; more; {
		var frame runtime.Frame
		if frame, more = frames.Next(); frame.Function != "" && !strings.HasPrefix(frame.Function, "runtime.") {
			stack = append(stack, fmt.Sprintf("%s %s:%d", frame.Function, frame.File, frame.Line))
		}
	}
	return problem.New("", "a fault of Claimsheet's own: %s", kind).Of(problem.Bug).
		Hinted("every id is safe in the ledger; run again, and report this if it happens again: %s", strings.Join(stack, " < "))
}
