// @ts-check
// Texts with columns in them, formulas, and conditions: a field, a way to insert a column, and for conditions a short form in plain words.

import { html, useId, useRef, useState } from './lib.js';
import { columnItems, Picker } from './picker.js';
import { state } from './store.js';

/**
 * A field into which columns can be inserted at the cursor.
 * @param {{label: string, text: string, hint: any, insert: (header: string) => string, onText: (text: string) => void}} props
 */
function FieldWithColumns({ label, text, hint, insert, onText }) {
	const id = useId();
	const field = useRef();
	const add = (/** @type {string} */ header) => {
		const { selectionStart: from, selectionEnd: to } = field.current;
		const piece = insert(header);
		onText(text.slice(0, from) + piece + text.slice(to));
		requestAnimationFrame(() => { field.current?.focus(); field.current?.setSelectionRange(from + piece.length, from + piece.length); });
	};
	return html`<div class="with-columns">
		<p class="field"><label for=${id}>${label}</label>
			<textarea id=${id} class="code" rows="2" spellcheck=${false} aria-describedby=${id + 'h'} ref=${field} value=${text}
			onInput=${(/** @type {any} */ e) => onText(e.target.value)}></textarea></p>
		<p id=${id + 'h'} class="faint hint">${hint}</p>
		<${Picker} key=${text} label="Insert a column" items=${columnItems(state.value?.columns || [])} placeholder="Type a part of the header"
			onPick=${add} />
	</div>`;
}

/** Text in which {Header} stands for the cell. @param {{text: string, onText: (text: string) => void}} props */
export function TextFromColumns({ text, onText }) {
	return html`<${FieldWithColumns} label="Text" text=${text} onText=${onText} insert=${(/** @type {string} */ h) => `{${h}}`}
		hint=${html`<span class="code">{Header}</span> stands for the cell of that column.`} />`;
}

/** A formula. @param {{label: string, text: string, onText: (text: string) => void}} props */
export function Formula({ label, text, onText }) {
	return html`<${FieldWithColumns} label=${label} text=${text} onText=${onText} insert=${(/** @type {string} */ h) => `col(${JSON.stringify(h)})`}
		hint=${html`<span class="code">col("Header")</span> is the text of a cell, <span class="code">num("Header")</span> its number, <span
			class="code">date("Header")</span> its day, <span class="code">has("Header")</span> whether it is filled.`} />`;
}

/** The conditions that need no formula: words, and how the formula is written. */
const relations = /** @type {[string, string, boolean, (column: string, text: string) => string][]} */ ([
	['filled', 'is filled', false, (c) => `has(${c})`],
	['empty', 'is empty', false, (c) => `!has(${c})`],
	['is', 'is', true, (c, t) => `col(${c}) == ${JSON.stringify(t)}`],
	['is-not', 'is not', true, (c, t) => `col(${c}) != ${JSON.stringify(t)}`],
	['one-of', 'is one of (with commas)', true, (c, t) => `col(${c}) in [${t.split(',').map((x) => JSON.stringify(x.trim())).join(', ')}]`],
	['has', 'contains', true, (c, t) => `col(${c}) contains ${JSON.stringify(t)}`],
]);

/** A condition on a row. @param {import('./editor.js').Fields} props */
export function Condition({ draft, onDraft }) {
	const id = useId();
	const [column, setColumn] = useState('');
	const [relation, setRelation] = useState('filled');
	const [text, setText] = useState('');
	const [, , needsText, write] = relations.find(([name]) => name === relation) || relations[0];
	const ready = column && (!needsText || text);
	return html`<fieldset class="condition"><legend>Only rows in which</legend>
			<${Picker} label="Column" items=${columnItems(state.value?.columns || [])} value=${column} placeholder="Type a part of the header"
				onPick=${setColumn} />
			<p class="field"><label for=${id + 'r'}>says</label>
				<select id=${id + 'r'} value=${relation} onChange=${(/** @type {any} */ e) => setRelation(e.target.value)}>
				${relations.map(([name, words]) => html`<option value=${name}>${words}</option>`)}</select></p>
			${needsText && html`<p class="field"><label for=${id + 't'}>Text</label>
				<input id=${id + 't'} value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)} /></p>`}
			<button type="button" disabled=${!ready} onClick=${() => onDraft((draft ? `${draft} && ` : '') + write(JSON.stringify(column), text))}>
				${draft ? 'And this too' : 'Take this'}</button>
		</fieldset>
		<${Formula} label="The condition as a formula" text=${String(draft ?? '')}
			onText=${(/** @type {string} */ t) => onDraft(t === '' ? null : t)} />`;
}
