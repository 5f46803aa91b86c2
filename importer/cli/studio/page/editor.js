// @ts-check
// The editor of one rule: how the value is made, how the cell is read, what comes out of it, and what to do with cells that have errors.
// A change is a draft with a live result until it is used.

import { refusal } from './api.js';
import { ColumnPicker, Condition, Field, OrderedColumns, Radios, TextWithColumns, textsOf } from './fields.js';
import { Fixes, Preview, useCells } from './fix.js';
import { html, useRef, useState } from './lib.js';
import { Reading, Sent } from './reading.js';
import { link } from './route.js';
import { changes, describe, members, oneOrList, same, sourceOf, sources, withMember, withSource } from './rule.js';
import { current, patch, targetAt, targetNear, usePending } from './store.js';
import { Questions } from './suggestions.js';
import { Act, Clients, Problems, Verdict, Waiting } from './ui.js';
import { count } from './words.js';

/** @typedef {import('./types.js').Rule} Rule */
/** @typedef {import('./types.js').Target} Target */
/** @typedef {{target: Target, draft: any, onDraft: (draft: Rule, isLook?: boolean) => void}} Fields isLook marks a draft that is no change yet */

/** @param {{target: Target}} props */
export function RuleEditor({ target }) {
	// What is typed stays when the rule changes meanwhile.
	const [kept, keep] = useState(/** @type {{from: Rule, draft: Rule, isLook: boolean}|null} */ (null));
	const draft = kept ? kept.draft : target.rule, from = kept ? kept.from : target.rule;
	const cells = useCells(target), kind = target.editor, Body = bodies[kind];
	const isChanged = !same(draft, target.rule), isComplete = saysEnough(draft);
	const isTaken = kind !== 'value' && isNothing(draft) && !target.required; // a field that was emptied
	const isUsable = isChanged && (isComplete || isTaken);
	const takenAway = `${target.name} taken away`;
	const use = async () => {
		if (!isUsable) return true;
		const label = `${target.name} ← ${describe({ ...target, rule: draft })}`.slice(0, 120);
		const done = await patch(isTaken ? takenAway : label, () => {
			const now = targetAt(target.path);
			if (!now || now.name !== target.name) {
				throw refusal(409, { message: `${target.name} is not there any more`, hint: 'Changes shows what happened, and leads back' });
			}
			return isTaken ? [{ op: 'remove', path: now.path }] : changes(now, draft, from);
		});
		if (done) keep((now) => (!now || same(now.draft, draft) ? null : { ...now, from: draft })); // what was typed since stays a draft
		return done;
	};
	usePending(isChanged && isComplete && !kept?.isLook, use);
	const { mapping } = current();
	const mistakes = mapping.problems.filter((p) => targetNear(p.path) === target);
	const isShown = useRef(false); // what comes late would push the fields away
	isShown.current ||= Boolean(cells.answer) || !(cells.loading || cells.error);
	if (!isShown.current) return html`<${Waiting} of=${cells} what="the cells" />`;
	return html`<form class="editor" onSubmit=${(e) => { e.preventDefault(); use(); }}>
		<div class="said-of" aria-live="assertive"><${Problems} list=${mistakes} kind="mistake" here=${true} /></div>
		<${Problems} list=${mapping.warnings.filter((p) => targetNear(p.path) === target)} kind="warning" here=${true} />
		<${Questions} list=${mapping.questions.filter((q) => q.path === target.path || q.path.startsWith(target.path + '/'))} />
		${target.usable + target.errors > 0 && html`<${Verdict} ...${target} />`}
		${kind === 'value' && html`<div hidden=${isChanged}><${Fixes} target=${target} cells=${cells.answer} /></div>`}
		<${Body} target=${target} draft=${draft} onDraft=${(/** @type {Rule} */ next, isLook = false) => keep({ from, draft: next, isLook })} />
		${kept && isChanged && !same(kept.from, target.rule) && html`<p class="notice warn" role="alert">This was changed meanwhile to: ${
			describe(target) || 'nothing'}. What you see here is yours.</p>`}
		<div class="actions">
			<button type="submit" class="main" aria-disabled=${isUsable ? undefined : 'true'}>Use this</button>
			${isChanged ? html`<button type="button" onClick=${() => keep(null)}>Put back</button>`
				: target.rule !== null && html`<${Act} kind="quiet"
					onAct=${() => patch(takenAway, [{ op: 'remove', path: target.path }])}>Take away<//>`}
			${target.line && html`<a href=${link('file', { line: target.line })}>Line ${target.line} of the file</a>`}
		</div>
		${['value', 'condition', 'text'].includes(kind) && isComplete && html`<${Preview} target=${target} rule=${draft} />`}
	</form>`;
}

/** Reports whether nothing is left of a rule. @param {any} rule */
const isNothing = (rule) => rule === null || rule === undefined || rule === '' || (Array.isArray(rule) && !rule.length);

/** Reports whether a rule says enough to be used. @param {any} rule */
function saysEnough(rule) {
	const way = sources.find(([name]) => Object.hasOwn(Object(rule), name))?.[0];
	return !isNothing(way ? rule[way] : rule);
}

/** What draws each kind of rule. @type {Record<string, (fields: Fields) => any>} */
const bodies = {
	value: ({ target, draft, onDraft }) => {
		const before = useRef({}); // what each way had, so that looking at another one loses nothing
		const pick = (name) => {
			before.current = { ...members(target.rule), ...before.current, ...members(draft) };
			onDraft(withSource(draft, name, before.current), true);
		};
		return html`<${Radios} legend="Made from" kind="ways" value=${sourceOf(draft)} options=${sources} onPick=${pick} />
		<${Source} key=${sourceOf(draft)} target=${target} draft=${draft} onDraft=${onDraft} />
		${target.options && html`<p class="faint allowed">The service takes: ${target.options.slice(0, 20).map((o) => `“${o}”`).join(', ')}${
			target.options.length > 20 && `, and ${count(target.options.length - 20, 'more text')}`}.</p>`}
		<${Reading} target=${target} draft=${draft} onDraft=${onDraft} />`;
	},
	columns: ({ target, draft, onDraft }) => html`
		<${OrderedColumns} label="Rows belong together when these columns say the same" list=${[draft || []].flat()}
			onList=${(list) => onDraft(oneOrList(list))} />
		${target.path === '/client/key' && html`<p role="status"><${Clients} /></p>`}`,
	column: ({ draft, onDraft }) => html`<${ColumnPicker} value=${String(draft ?? '')} onPick=${onDraft} />`,
	condition: Condition,
	text: ({ draft, onDraft }) => { // it may also be {text, values}
		const isObject = typeof draft === 'object' && draft !== null;
		return html`<${TextWithColumns} kind="text" text=${isObject ? draft.text : draft}
			onText=${(text) => onDraft(isObject ? { ...draft, text } : text)} />`;
	},
	list: ({ draft, onDraft }) => html`<${Field} label="Texts, one in each line" lines=${4} value=${[draft || []].flat().join('\n')}
		onValue=${(text) => onDraft(textsOf(text))} />`,
	choice: ({ target, draft, onDraft }) => { // each is written as JSON; one of them may be what a column says
		const isByColumn = Boolean(draft) && Object.hasOwn(draft, 'column');
		return html`<${Radios} legend=${target.title} kind="choices" value=${JSON.stringify(isByColumn ? { column: '' } : draft)}
			options=${target.choices?.map(([value, ...words]) => [JSON.stringify(value), ...words])} onPick=${(to) => onDraft(JSON.parse(to))} />
			${isByColumn && html`<${ColumnPicker} value=${String(draft.column)} onPick=${(column) => onDraft({ column })} />`}`;
	},
	plain: ({ target, draft, onDraft }) => html`<${Field} label=${target.title} value=${String(draft ?? '')}
		offers=${target.path === '/sheet/timezone' ? Intl.supportedValuesOf('timeZone') : []}
		onValue=${(text) => onDraft(text || null)} />`,
};

/** What a value is made from. @param {Fields} props */
function Source({ target, draft, onDraft }) {
	const all = members(draft);
	const set = (name) => (to) => onDraft(withMember(draft, name, to));
	switch (sourceOf(draft)) {
		case 'value': return html`<${Sent} target=${target} type=${target.type} label="Value for everyone" value=${all.value} onSent=${set('value')} />`;
		case 'text': return html`<${TextWithColumns} kind="text" text=${all.text} onText=${set('text')} />`;
		case 'expr': return html`<${TextWithColumns} kind="expr" text=${all.expr} onText=${set('expr')} />`;
		case 'first_of': return html`<${OrderedColumns} label="Columns, the first filled one is taken" list=${[all.first_of || []].flat()}
			onList=${set('first_of')} />`;
		case 'join': return html`<${OrderedColumns} label="Columns, what is empty is left out" list=${[all.join || []].flat()} onList=${set('join')} />
			<${Field} label="Between them" value=${all.with ?? ', '} onValue=${set('with')} />`;
		default: return html`<${ColumnPicker} value=${String(all.column ?? '')} onPick=${set('column')} />`;
	}
}
