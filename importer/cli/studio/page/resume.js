// @ts-check
// At which activity a client goes on: always the same one, or the one that a column names.

import { html, useId } from './lib.js';
import { columnItems, Picker } from './picker.js';
import { state } from './store.js';

/** @param {import('./editor.js').Fields} props */
export function Resume({ target, draft, onDraft }) {
	const id = useId();
	const byColumn = typeof draft === 'object' && draft !== null;
	const names = [...new Set((state.value?.targets || []).filter((t) => /^\/activities\/\d+\//.test(t.path)).map((t) => t.of || ''))];
	return html`<fieldset class="ways"><legend>Clients go on</legend>
			<label><input type="radio" name=${id} checked=${!byColumn} onChange=${() => onDraft(names[0] || '')} />
				<span>At one activity</span></label>
			<label><input type="radio" name=${id} checked=${byColumn} onChange=${() => onDraft({ column: '' })} /><span>As a column says</span>
				</label></fieldset>
		${byColumn
			? html`<${Picker} label="Column" items=${columnItems(state.value?.columns || [])} value=${/** @type {{column: string}} */ (draft).column}
				onPick=${(/** @type {string} */ column) => onDraft({ column })} />`
			: html`<p class="field"><label for=${id + 's'}>${target.title}</label>
				<select id=${id + 's'} value=${String(draft ?? '')} onChange=${(/** @type {any} */ e) => onDraft(e.target.value || null)}>
				<option value="">the first open one</option>${names.map((n) => html`<option value=${n}>${n}</option>`)}</select></p>`}`;
}
