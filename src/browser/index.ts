/** Browser: sessions of a real browser that an agent works and a person watches. */
export { openSessions, sessionSums } from './standing'
export { type BrowserService, createBrowser } from './service'
export { startWatchLoop } from './watch-loop'
