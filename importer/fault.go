package importer

import (
	"fmt"
	"runtime"
	"strings"
)

// Fault is a panic: a defect of Claimsheet. Its text says where it happened and of what kind it is,
// and leaves out the panic's value, which may be personal data or a secret.
type Fault struct {
	Kind  string   // the runtime's words, else the value's type
	Stack []string // “function file:line”, the innermost first
}

// Caught makes a Fault of what recover returned. Call it in the deferred function itself.
func Caught(value any) *Fault {
	f := &Fault{Kind: fmt.Sprintf("panic with a %T", value)}
	if err, ok := value.(runtime.Error); ok {
		f.Kind = err.Error() // made of numbers and types
	}
	const skip, most = 3, 32 // runtime.Callers, Caught, the deferred function
	var callers [most]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(skip, callers[:])])
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !strings.HasPrefix(frame.Function, "runtime.") {
			f.Stack = append(f.Stack, fmt.Sprintf("%s %s:%d", frame.Function, frame.File, frame.Line))
		}
		if !more {
			return f
		}
	}
}

// Error says what happened and where, on one line.
func (f *Fault) Error() string {
	at := ""
	if len(f.Stack) > 0 {
		at = ", in " + f.Stack[0]
	}
	return "a fault of Claimsheet's own: " + f.Kind + at
}
