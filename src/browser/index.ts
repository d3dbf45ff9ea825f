/** Browser: sessions of a real browser that an agent uses and a person watches. */
export { type BrowserService, createBrowser } from './service'
export { openSessions, sessionSums } from './session-state'
export { listSessions } from './sessions'
export { startWatchLoop } from './watch-loop'
