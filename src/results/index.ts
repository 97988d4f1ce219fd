export { type FinishedResult, finishClean, finishResult } from './finish.js';
export { budgetImages, type ImageBudget, mediaFileName, REQUEST_IMAGE_BYTES, saveMedia } from './image-budget.js';
export { type CheckedBlock, checkDocument, checkImage, MAX_IMAGE_BASE64_CHARS, MAX_IMAGE_EDGE } from './images.js';
export { type CleanResult, cleanResult, mapResult, textSize } from './map.js';
export {
  fitMessageBudget,
  MESSAGE_BUDGET_CHARS,
  type PersistedFile,
  persistedOutput,
  persistIfLarge,
  type SizedContent,
} from './persist.js';
export { createResultStore, type ResultStore, type StoredFile } from './store.js';
export { NO_OUTPUT, sanitizeText } from './text.js';
