export { formsOf, isRedactable } from './forms.ts';
export * from './joined.ts';
export * from './redactor.ts';
