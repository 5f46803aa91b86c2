package cli

func init() { lookAgain = "0s 10ms 10ms" }
