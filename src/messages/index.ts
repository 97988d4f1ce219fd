export { CONTINUE, MISSING_BEGINNING, type OpenCall, UNKNOWN_OUTCOME } from './assemble.js';
export { type Attachment, renderAttachment } from './attachments.js';
export { onlyResultsMayFollow } from './blocks.js';
export { NO_OUTPUT } from './clean.js';
export { CLEARED_RESULT, type CompactionPlan, chooseCut, clearOldToolResults, compactMessages, planCompaction } from './compaction.js';
export type { AssistantEntry, AttachmentEntry, ChainDraft, ChainEntry, SystemEntry, TranscriptLine, UserEntry } from './entries.js';
export { type ForkOptions, forkLines, forkTranscript } from './fork.js';
export type { JournalEntry, JournalType } from './journal.js';
export { type LoadedTranscript, loadTranscript, parseTranscript, type TranscriptProblem } from './load.js';
export { TranscriptLockedError } from './lock.js';
export { limitMedia, type MediaBudget } from './mediaBudget.js';
export { normalizeMessagesForAPI, normalizeWithNotes } from './normalize.js';
export type { Note, NoteCode } from './note.js';
export { assertSendable, checkPairing, checkThinkingUnchanged, UnsendableMessagesError } from './pairing.js';
export type { PairingProblem, PairingProblemCode } from './pairingProblem.js';
export { claudeConfigDir, cwdSlug, defaultDataDir, projectDir, toolResultsDir, transcriptPath } from './paths.js';
export { escapeReminder, unescapeReminder, wrapReminder } from './reminder.js';
export { type RepairedMessages, repairMessages } from './repair.js';
export { closingResult, type OpenToolCall, openCallsOf, type ParkedApproval, type ResumeState, resumeState } from './resume.js';
export { type ImportedSession, importClaudeTranscript, listSessions, type SessionSummary, serializeTranscript } from './sessions.js';
export {
  type Compaction,
  createMemoryTranscript,
  openTranscript,
  type Transcript,
  type TranscriptOptions,
  TranscriptWriteError,
} from './transcript.js';
export * from './types.js';
