import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App.js';
import './styles.css';
import { embeddedRecording } from './link/recording.js';
import { takeToken } from './link/token.js';
import { Inspector } from './model/inspector.js';

const inspector = new Inspector();
const root = document.getElementById('root');
if (root) createRoot(root).render(<StrictMode>{<App inspector={inspector} />}</StrictMode>);

try {
  const recording = await embeddedRecording();
  if (recording) inspector.openRecording(recording);
  else inspector.connect(takeToken());
} catch (error) {
  inspector.notice(`The recording in this page cannot be read: ${error instanceof Error ? error.message : String(error)}`, 'error');
  inspector.remote.patch({ status: 'recording', isRecorded: true });
}
