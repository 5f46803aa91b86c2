// @ts-check
// At which activity a client goes on: always the same one, or the one that a column names.

import { get } from './api.js';
import { html, useId } from './lib.js';
import { columnItems, Picker } from './picker.js';
import { columnsByLetter, state } from './store.js';
import { useLoaded } from './ui.js';

/** @param {import('./editor.js').Fields} props */
export function Resume({ target, draft, onDraft }) {
	const id = useId();
	const byColumn = typeof draft === 'object' && draft !== null;
	const rule = byColumn ? /** @type {{column: string, values?: Record<string, string>}} */ (draft) : { column: '' };
	const names = [...new Set((state.value?.targets || []).filter((t) => /^\/activities\/\d+\//.test(t.path)).map((t) => t.of || ''))];
	const letter = [...columnsByLetter.value.values()].find((c) => c.header === rule.column)?.letter;
	const asked = useLoaded((signal) => (letter ? get('column', { letter }, signal) : null), [letter]);
	const texts = /** @type {import('./types.js').Distinct[]} */ (asked.answer?.values || []).slice(0, 50);
	const mean = (/** @type {string} */ text, /** @type {string} */ name) => {
		const values = { ...rule.values, [text]: name };
		if (!name) delete values[text];
		onDraft(Object.keys(values).length ? { column: rule.column, values } : { column: rule.column });
	};
	return html`<fieldset class="ways"><legend>Clients go on</legend>
			<label><input type="radio" name=${id} checked=${!byColumn} onChange=${() => onDraft(names[0] || '')} />
				<span>At one activity</span></label>
			<label><input type="radio" name=${id} checked=${byColumn} onChange=${() => onDraft({ column: '' })} /><span>As a column says</span>
				</label></fieldset>
		${byColumn
			? html`<${Picker} label="Column" items=${columnItems(state.value?.columns || [])} value=${rule.column}
				onPick=${(/** @type {string} */ column) => onDraft({ column })} />
				${texts.length > 0 && html`<table class="rows"><caption class="hidden">What each text means</caption>
					<thead><tr><th scope="col">In the sheet</th><th scope="col">Activity</th></tr></thead>
					<tbody>${texts.map((v) => html`<tr key=${v.text}><td class="cell">${v.text}</td>
					<td><select aria-label=${`“${v.text}” means`} value=${rule.values?.[v.text] || (names.includes(v.text) ? v.text : '')}
						onChange=${(/** @type {any} */ e) => mean(v.text, e.target.value)}><option value="">not decided</option>
						${names.map((n) => html`<option value=${n}>${n}</option>`)}</select></td></tr>`)}</tbody></table>`}`
			: html`<p class="field"><label for=${id + 's'}>${target.title}</label>
				<select id=${id + 's'} value=${String(draft ?? '')} onChange=${(/** @type {any} */ e) => onDraft(e.target.value || null)}>
				<option value="">the first open one</option>${names.map((n) => html`<option value=${n}>${n}</option>`)}</select></p>`}`;
}
