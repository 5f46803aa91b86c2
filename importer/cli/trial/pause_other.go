//go:build !unix

package trial

func pause() { panic("TRIAL_PAUSE needs signals") }
