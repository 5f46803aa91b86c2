// @ts-check
// The door to the libraries: the page imports Preact, htm and signals from here only.

import * as preact from './vendor/preact.js';
import * as hooks from './vendor/hooks.js';
import htm from './vendor/htm.js';
import * as signals from './vendor/signals.js';

/**
 * A value that redraws what reads it.
 * @template T
 * @typedef {{value: T, peek: () => T}} Signal
 */

/** Makes elements from a template text: html`<b class="x">${text}</b>`.
 * @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(/** @type {any} */ (preact).h);

/** Draws an element into a place of the document.
 * @type {(element: any, place: HTMLElement) => void} */
export const render = /** @type {any} */ (preact).render;

/** @type {<T>(first: T) => Signal<T>} */
export const signal = /** @type {any} */ (signals).signal;

/** A value made from signals, made again when they change.
 * @type {<T>(make: () => T) => Signal<T>} */
export const computed = /** @type {any} */ (signals).computed;

/** Several changes of signals, drawn once.
 * @type {(work: () => void) => void} */
export const batch = /** @type {any} */ (signals).batch;

/** @type {<T>(first: T | (() => T)) => [T, (next: T | ((old: T) => T)) => void]} */
export const useState = /** @type {any} */ (hooks).useState;

/** @type {(work: () => void | (() => void), when?: any[]) => void} */
export const useEffect = /** @type {any} */ (hooks).useEffect;

/** As useEffect, before the browser paints.
 * @type {(work: () => void | (() => void), when?: any[]) => void} */
export const useLayoutEffect = /** @type {any} */ (hooks).useLayoutEffect;

/** @type {<T = any>(first?: any) => {current: T}} */
export const useRef = /** @type {any} */ (hooks).useRef;

/** @type {<T>(make: () => T, when: any[]) => T} */
export const useMemo = /** @type {any} */ (hooks).useMemo;

/** @type {() => string} */
export const useId = /** @type {any} */ (hooks).useId;
