export { backgroundTaskMachine } from './backgroundTask.js';
export { executorMachine } from './executor.js';
export { permissionMachine } from './permission.js';
export { queryMachine } from './query.js';
export { sessionMachine } from './session.js';
export { toolCallMachine } from './toolCall.js';
export { turnMachine } from './turn.js';
