export { formsOf, isRedactable } from './forms.ts';
export * from './joined.ts';
export { charactersOf, partsOf } from './parts.ts';
export * from './redactor.ts';
