package main

var titles = []string{"Mr", "Mrs", "Ms", "Miss", "Dr", "Mx"}

// name is a name as its owner writes it, and as it is written in an e-mail
// address.
type name struct{ shown, plain string }

var firstNames = []name{
	{"Zoë", "zoe"}, {"Siân", "sian"}, {"Seán", "sean"}, {"Aoife", "aoife"}, {"Órla", "orla"},
	{"Éamonn", "eamonn"}, {"François", "francois"}, {"Renée", "renee"}, {"Łukasz", "lukasz"}, {"Agnieszka", "agnieszka"},
	{"Bjørn", "bjorn"}, {"Søren", "soren"}, {"Åsa", "asa"}, {"Jürgen", "juergen"}, {"Óscar", "oscar"},
	{"Begoña", "begona"}, {"João", "joao"}, {"Chloé", "chloe"}, {"Ngọc", "ngoc"}, {"Şebnem", "sebnem"},
	{"Ελένη", "eleni"}, {"Олена", "olena"}, {"Jean-Luc", "jean-luc"}, {"Mary Ann", "maryann"}, {"Oluwaseun", "oluwaseun"},
	{"Priya", "priya"}, {"Mohammed", "mohammed"}, {"Aisha", "aisha"}, {"Gareth", "gareth"}, {"Rhiannon", "rhiannon"},
	{"Hamish", "hamish"}, {"Catriona", "catriona"}, {"William", "william"}, {"Margaret", "margaret"}, {"David", "david"},
	{"Susan", "susan"}, {"Trevor", "trevor"}, {"Jacqueline", "jacqueline"}, {"Kwame", "kwame"}, {"Harpreet", "harpreet"},
}

// Both apostrophes are there on purpose: sheets contain the typed one and the one
// that word processors replace it with.
var lastNames = []name{
	{"O’Brien", "obrien"}, {"O'Brien", "obrien"}, {"O’Neill", "oneill"}, {"D'Souza", "dsouza"}, {"Smith-Jones", "smith-jones"},
	{"Pugh-Llewellyn", "pugh-llewellyn"}, {"García-Núñez", "garcia-nunez"}, {"Weiß", "weiss"}, {"Großmann", "grossmann"}, {"Müller", "mueller"},
	{"Wałęsa", "walesa"}, {"Żółkiewski", "zolkiewski"}, {"Sørensen", "sorensen"}, {"Bjørnstad", "bjornstad"}, {"Ångström", "angstrom"},
	{"Lefèvre", "lefevre"}, {"Dvořák", "dvorak"}, {"Nguyễn", "nguyen"}, {"Çelik", "celik"}, {"Παπαδοπούλου", "papadopoulou"},
	{"Шевченко", "shevchenko"}, {"Ó Súilleabháin", "osuilleabhain"}, {"Ní Dhomhnaill", "nidhomhnaill"}, {"MacDonald", "macdonald"}, {"McIntyre", "mcintyre"},
	{"van der Berg", "vanderberg"}, {"de la Cruz", "delacruz"}, {"Adeyemi", "adeyemi"}, {"Okonkwo", "okonkwo"}, {"Patel", "patel"},
	{"Singh", "singh"}, {"Khan", "khan"}, {"Begum", "begum"}, {"Evans", "evans"}, {"Griffiths", "griffiths"},
	{"Thompson", "thompson"}, {"Braithwaite", "braithwaite"}, {"Featherstonehaugh", "featherstonehaugh"}, {"Wood", "wood"}, {"Null", "null"},
}
