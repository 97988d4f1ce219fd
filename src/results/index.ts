export { type FinishedResult, finishAtOnce, finishClean } from './finish.js';
export { budgetImages } from './image-budget.js';

export { type CleanResult, cleanResult, mapResult, textSize, tryToMap } from './map.js';
export { fitMessageBudget, MESSAGE_BUDGET_CHARS } from './persist.js';
export { createResultStore, type ResultStore } from './store.js';
