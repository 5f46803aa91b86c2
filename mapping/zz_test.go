package mapping_test
import ("testing";"claimsheet/mapping")
func BenchmarkZPhone(b *testing.B) {
	c := mapping.Conversion{Type: mapping.Phone, Region: "GB"}
	for _, s := range []string{"020 7946 0018", "02079460018", "+442079460018", "+44 20 7946 0018"} {
		b.Run(s, func(b *testing.B) { b.ReportAllocs(); for b.Loop() { c.Convert(text(s)) } })
	}
}
