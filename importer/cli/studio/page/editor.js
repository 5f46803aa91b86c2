// @ts-check
// The editor of one rule: how the value is made, how the cell is read, what comes out of it, and what to do with cells that have errors.
// A change is a draft with a live result until it is used.

import { ApiError } from './api.js';
import { Fixes, useCells } from './fix.js';
import { Condition, Formula, Resume, TextFromColumns } from './formula.js';
import { html, useId, useLayoutEffect, useRef, useState } from './lib.js';
import { Options, Sent } from './options.js';
import { columnItems, Picker } from './picker.js';
import { Preview } from './preview.js';
import { takeIn, usePending } from './pending.js';
import { changes, describe, editorOf, members, nameOf, numberForms, removal, same, sourceOf, sources, withMember, withSource } from './rule.js';
import { link } from './route.js';
import { patch, state, targetAt, targetNear } from './store.js';
import { Questions } from './suggestions.js';
import { Act, Clients, Problems, TextField, Verdict, Waiting } from './ui.js';
import { choiceWords, count, usualChoice } from './words.js';

/** @typedef {import('./types.js').Rule} Rule */
/** @typedef {import('./types.js').Target} Target */
/** @typedef {{target: Target, draft: Rule, onDraft: (draft: Rule, isLook?: boolean) => void}} Fields */

/** The targets whose result can be shown before they are used. */
const previewed = ['value', 'condition', 'text'];

/** @param {{target: Target}} props */
export function RuleEditor({ target }) {
	const [kept, keep] = useState(/** @type {{from: Rule, draft: Rule, isLook: boolean}|null} */ (null)); // what is typed stays when the rule changes meanwhile
	const draft = kept ? kept.draft : target.rule;
	const set = (/** @type {Rule} */ next, isLook = false) => keep({ from: kept ? kept.from : target.rule, draft: next, isLook });
	const cells = useCells(target);
	const form = useRef();
	const id = useId();
	const kind = editorOf(target);
	const changed = !same(draft, target.rule);
	const isTaken = kind !== 'value' && isNothing(draft) && !target.required; // a field that was emptied
	const complete = isComplete(draft);
	const Body = bodies[kind];
	const use = async () => {
		if (!changed || !(complete || isTaken)) return true;
		const from = kept ? kept.from : target.rule;
		const done = await patch(isTaken ? `${nameOf(target)} taken away` : labelOf(target, draft),
			() => { const now = stillThere(target); return isTaken ? removal(now) : changes(now, draft, from); });
		if (done) keep((now) => (!now || same(now.draft, draft) ? null : { ...now, from: draft })); // what was typed since stays a draft
		return done;
	};
	usePending(changed && complete && !kept?.isLook, use);
	const mistakes = (state.value?.mapping.problems || []).filter((p) => targetNear(p.path) === target.path);
	const warnings = (state.value?.mapping.warnings || []).filter((p) => targetNear(p.path) === target.path);
	const questions = (state.value?.mapping.questions || []).filter((q) => q.path === target.path || q.path.startsWith(target.path + '/'));
	const isShown = useRef(false);
	const isWaiting = !isShown.current && !cells.answer && (cells.loading || cells.error !== null); // else what comes late would push the fields away
	isShown.current = !isWaiting;
	useLayoutEffect(() => (form.current && mistakes.length > 0 && !changed ? markField(form.current, id) : undefined));
	if (isWaiting) return html`<${Waiting} of=${cells} what="the cells" />`;
	return html`<form class="editor" ref=${form} onSubmit=${(/** @type {Event} */ e) => { e.preventDefault(); use(); }}
		onKeyDown=${(/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); takeIn(); } }}>
		<div id=${id} class="said-of" aria-live="assertive">${mistakes.length > 0 && html`<${Problems} list=${mistakes} kind="mistake" here=${true} />`}</div>
		<${Problems} list=${warnings} kind="warning" here=${true} />
		<${Questions} list=${questions} />
		${(target.usable || 0) + (target.errors || 0) > 0 && html`<${Verdict} ...${target} />`}
		${kind === 'value' && html`<div hidden=${changed}><${Fixes} target=${target} cells=${cells.answer || []} /></div>`}
		<${Body} target=${target} draft=${draft} onDraft=${set} />
		${kept && changed && !same(kept.from, target.rule) && html`<p class="notice warn" role="alert">This was changed meanwhile to: ${describe(target) || 'nothing'}. What you see here is yours.</p>`}
		<div class="actions">
			<button type="submit" class="main" aria-disabled=${!changed || !(complete || isTaken) ? 'true' : undefined}>Use this</button>
			${changed && html`<button type="button" onClick=${() => keep(null)}>Put back</button>`}
			${target.rule !== null && !changed
				&& html`<${Act} quiet=${true} onAct=${() => patch(`${nameOf(target)} taken away`, removal(target))}>Take away<//>`}
			${target.line && html`<a href=${link('file', { line: target.line })}>Line ${target.line} of the file</a>`}
		</div>
		${previewed.includes(kind) && complete && html`<${Preview} target=${target} rule=${draft} />`}
	</form>`;
}

/** The target as it is now; when it is not there any more, nothing can be changed. @param {Target} target */
function stillThere(target) {
	const now = targetAt(target.path);
	if (!now || nameOf(now) !== nameOf(target)) throw new ApiError(409, { message: `${nameOf(target)} is not there any more`, hint: 'Changes shows what happened, and leads back' });
	return now;
}

/** Says at the first field of a form what is wrong with it; returns how to take that back. @param {HTMLElement} form @param {string} id of what says it */
function markField(form, id) {
	const field = [...form.querySelectorAll('.picker input, .field input, .field textarea, .field select')].find((f) => !f.closest('.fixes, details'));
	field?.setAttribute('aria-invalid', 'true');
	field?.setAttribute('aria-errormessage', id);
	return () => { field?.removeAttribute('aria-invalid'); field?.removeAttribute('aria-errormessage'); };
}

/** Reports whether nothing is left of a rule. @param {Rule} rule */
const isNothing = (rule) => rule === null || rule === '' || (Array.isArray(rule) && !rule.length);

/** Reports whether a rule says enough to be used. @param {Rule} rule */
function isComplete(rule) {
	if (rule === null || rule === undefined || rule === '') return false;
	if (typeof rule !== 'object') return true;
	if (Array.isArray(rule)) return rule.length > 0;
	const way = sources.find(([name]) => name in rule)?.[0];
	const said = way ? rule[way] : rule;
	return said !== undefined && said !== '' && !(Array.isArray(said) && !said.length);
}

/** What the history calls a change. @param {Target} target @param {Rule} rule */
function labelOf(target, rule) {
	return `${nameOf(target)} ← ${describe({ ...target, rule }).replace(/^only when /, '')}`.slice(0, 120);
}

/** The editor of a value: one of several ways to make it. @param {Fields} props */
function ValueFields({ target, draft, onDraft }) {
	const id = useId();
	const source = sourceOf(draft);
	const before = useRef({}); // what each way had, so that looking at another one loses nothing
	const choose = (/** @type {import('./rule.js').Source} */ name) => {
		before.current[source] = members(draft)[source];
		const next = withSource(draft, name);
		onDraft(before.current[name] ? withMember(next, name, before.current[name]) : next, true);
	};
	return html`<fieldset class="ways"><legend>Made from</legend>${sources.map(([name, words]) => html`
			<label key=${name}><input type="radio" name=${id} checked=${name === source} onChange=${() => choose(name)} />
				<span>${words}</span></label>`)}</fieldset>
		<${Source} key=${source} target=${target} draft=${draft} onDraft=${onDraft} />
		<${Allowed} target=${target} />
		<${Options} target=${target} draft=${draft} onDraft=${onDraft} />`;
}

/** What a value is made from. @param {Fields} props */
function Source({ target, draft, onDraft }) {
	const all = members(draft);
	const set = (/** @type {string} */ name) => (/** @type {any} */ to) => onDraft(withMember(draft, name, to));
	switch (sourceOf(draft)) {
		case 'value': return html`<${Sent} target=${target} type=${target.type} label="Value for everyone" value=${all.value} hint="" onSent=${set('value')} />`;
		case 'text': return html`<${TextFromColumns} text=${all.text || ''} onText=${set('text')} />`;
		case 'expr': return html`<${Formula} label="Formula" text=${all.expr || ''} onText=${set('expr')} />`;
		case 'first_of': return html`<${OrderedColumns} label="Columns, the first filled one is taken" list=${[all.first_of || []].flat()} onList=${set('first_of')} />`;
		case 'join': return html`<${OrderedColumns} label="Columns, what is empty is left out" list=${[all.join || []].flat()} onList=${set('join')} />
			<${TextField} label="Between them" value=${all.with ?? ', '} onText=${set('with')} />`;
		default: return html`<${ColumnField} draft=${all.column} onDraft=${set('column')} />`;
	}
}

/** Columns that together say who is who. @param {Fields} props */
function ColumnsFields({ target, draft, onDraft }) {
	const list = draft === null ? [] : [/** @type {any} */ (draft)].flat();
	return html`<${OrderedColumns} label="Rows belong together when these columns say the same" list=${list}
			onList=${(/** @type {string[]} */ l) => onDraft(l.length === 1 ? l[0] : l)} />
		${target.path === '/client/key' && html`<p role="status"><${Clients} /></p>`}`;
}

/** A list of columns in an order. @param {{label: string, list: string[], onList: (list: string[]) => void}} props */
function OrderedColumns({ label, list, onList }) {
	const items = columnItems(state.value?.columns || []).filter((i) => !list.includes(i.value));
	const box = useRef();
	const move = (/** @type {number} */ from, /** @type {number} */ to) => { const next = [...list]; next.splice(to, 0, ...next.splice(from, 1)); onList(next); };
	const remove = (/** @type {number} */ n) => {
		const { current: items } = box;
		onList(list.filter((_, i) => i !== n));
		requestAnimationFrame(() => (items.querySelectorAll('li')[Math.min(n, list.length - 2)] || items.querySelector('input'))?.focus());
	};
	return html`<fieldset class="ordered" ref=${box}><legend>${label}</legend>
		<ol>${list.map((name, n) => html`<li key=${name} tabindex="-1"><span>${name}</span>
			<button type="button" class="quiet" data-again aria-disabled=${n === 0 ? 'true' : undefined} aria-label=${`Move ${name} up`} onClick=${() => n > 0 && move(n, n - 1)}>↑</button>
			<button type="button" class="quiet" data-again aria-disabled=${n === list.length - 1 ? 'true' : undefined} aria-label=${`Move ${name} down`}
				onClick=${() => n < list.length - 1 && move(n, n + 1)}>↓</button>
			<button type="button" class="quiet" aria-label=${`Remove ${name}`} onClick=${() => remove(n)}>✕</button>
				</li>`)}</ol>
		<${Picker} label=${list.length ? 'Add a column' : 'Column'} items=${items} placeholder="Type a part of the header"
			onPick=${(/** @type {string} */ c) => onList([...list, c])} />
	</fieldset>`;
}

/** @param {{draft: any, onDraft: (column: string) => void}} props */
function ColumnField({ draft, onDraft }) {
	return html`<${Picker} label="Column" items=${columnItems(state.value?.columns || [])} value=${String(draft ?? '')}
		placeholder="Type a part of the header" onPick=${onDraft} />`;
}

/** A text that may also be {text, values}. @param {Fields} props */
function WholeText({ draft, onDraft }) {
	const isObject = typeof draft === 'object' && draft !== null && !Array.isArray(draft);
	const text = isObject ? draft.text : draft;
	return html`<${TextFromColumns} text=${String(text ?? '')}
		onText=${(/** @type {string} */ t) => onDraft(isObject ? { ...draft, text: t } : t)} />`;
}

/** Texts, one in each line. What is typed stays as it is; empty lines are no texts. @param {Fields} props */
function ListField({ draft, onDraft }) {
	const id = useId();
	const list = Array.isArray(draft) ? draft : draft ? [draft] : [];
	const [typed, setTyped] = useState('');
	const text = same(textsOf(typed), list) ? typed : list.join('\n');
	const type = (/** @type {any} */ e) => { setTyped(e.target.value); onDraft(textsOf(e.target.value)); };
	return html`<p class="field"><label for=${id}>Texts, one in each line</label>
		<textarea id=${id} rows=${Math.max(3, list.length + 1)} value=${text} onInput=${type}></textarea></p>`;
}

/** @param {string} text */
const textsOf = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean); // as cells are read

/** A choice of few, each with what it does. @param {Fields} props */
function ChoiceField({ target, draft, onDraft }) {
	const id = useId();
	return html`<fieldset class="choices"><legend>${target.title}</legend>${(target.options || []).map((o) => {
		const [words, does] = choiceWords(target, o), isPlain = words.toLowerCase().includes(o.toLowerCase());
		return html`<label key=${o}><input type="radio" name=${id} aria-describedby=${does ? id + o : undefined} checked=${draft === o} onChange=${() => onDraft(o)} />
			<span>${words}</span>${!isPlain && html` <span class="code faint" title="This word stands in the file">${o}</span>`}${draft === null && usualChoice(target) === o && html` <span class="chip">done when nothing is chosen</span>`}</label>${does && html`<p id=${id + o} class="faint">${does}</p>`}`;
	})}</fieldset>`;
}

/** What the service takes for a target, when it says so. @param {{target: Target}} props */
function Allowed({ target }) {
	const list = target.options || [];
	return list.length > 0 && html`<p class="faint allowed">The service takes: ${list.slice(0, 20).map((o) => `“${o}”`).join(', ')}${list.length > 20 && `, and ${count(list.length - 20, 'more text')}`}.</p>`;
}

/** How numbers are written in texts. @param {Fields} props */
function NumbersField({ draft, onDraft }) {
	const id = useId();
	return html`<fieldset class="ways"><legend>Numbers in texts look like</legend>${numberForms.map(([example, form]) => html`
		<label key=${example}><input type="radio" name=${id} checked=${same(draft, form)} onChange=${() => onDraft(form)} />
			<span class="code">${example}</span></label>`)}</fieldset>`;
}

/** @param {Fields} props */
function PlainField({ target, draft, onDraft }) {
	const offers = target.path === '/sheet/timezone' ? Intl.supportedValuesOf('timeZone') : [];
	return html`<${TextField} label=${target.title} value=${String(draft ?? '')} offers=${offers}
		onText=${(/** @type {string} */ t) => onDraft(t === '' ? null : t)} />`;
}

const bodies = {
	value: ValueFields, columns: ColumnsFields, column: ColumnField, condition: Condition, text: WholeText, list: ListField,
	numbers: NumbersField, resume: Resume, choice: ChoiceField, plain: PlainField,
};
