package mapping

import "encoding/json"

// Definition is what the names of steps are made from: the client key, the
// claim keys and the activity ids, as JSON. A mapping whose definition changes
// under the same name would ask for everything again under new names.
func (m *Mapping) Definition() string {
	type claim struct {
		ID  string   `json:"id"`
		Key []string `json:"key"`
	}
	d := struct {
		Key        []string `json:"key"`
		KeySpace   string   `json:"keySpace,omitempty"`
		Claims     []claim  `json:"claims,omitempty"`
		Activities []string `json:"activities,omitempty"`
	}{Key: texts(m.Client.Key), KeySpace: m.Client.KeySpace.Text}
	for _, c := range m.Claims {
		key := texts(c.Key)
		for i, name := range key {
			if alias, ok := c.Columns[name]; ok {
				key[i] = alias.Text
			}
		}
		d.Claims = append(d.Claims, claim{c.ID.Text, key})
	}
	for _, a := range m.Activities {
		d.Activities = append(d.Activities, a.ID.Text+"@"+a.On.Text)
	}
	data, err := json.Marshal(d)
	if err != nil {
		panic("mapping: plain data that does not marshal: " + err.Error())
	}
	return string(data)
}
