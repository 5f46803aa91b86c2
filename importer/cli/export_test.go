package cli

func init() { lookAgain, askAgain = "0s 10ms 10ms", "20ms" }
