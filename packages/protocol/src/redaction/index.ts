export { isRedactable } from './forms.ts';
export * from './joined.ts';
export * from './redactor.ts';
