/** Every key of the dashboard in one table: input, the help screen and the hints in the last row come from it. */

export type KeyName = string
export type Binding = { keys: readonly KeyName[]; does: string; about: string }

/** Keys that mean the same on every screen. */
export const GLOBAL: readonly Binding[] = [
  { keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'], does: 'screen', about: 'go to a screen' },
  { keys: ['tab', 'shift-tab'], does: 'pane', about: 'next or previous pane' },
  { keys: ['up', 'k', 'down', 'j', 'pageup', 'pagedown', 'g', 'G', 'home', 'end'], does: 'move', about: 'move' },
  { keys: ['enter'], does: 'open', about: 'open' },
  { keys: ['space'], does: 'mark', about: 'mark the row; pause in Logs' },
  { keys: ['/'], does: 'filter', about: 'filter this list' },
  { keys: [':'], does: 'palette', about: 'run a command' },
  { keys: ['?'], does: 'help', about: 'help for this screen' },
  { keys: ['esc'], does: 'back', about: 'back, close, clear the filter' },
  { keys: ['r'], does: 'refresh', about: 'refresh now' },
  { keys: ['s', 'S'], does: 'sort', about: 'sort by the next or previous column' },
  { keys: ['p'], does: 'pause', about: 'pause live updates' },
  { keys: ['f'], does: 'follow', about: 'follow the newest row' },
  { keys: ['y'], does: 'copy', about: 'copy the id' },
  { keys: ['ctrl-y'], does: 'copy-command', about: 'copy the shell command' },
  { keys: ['t'], does: 'trace', about: 'trace the request of this row' },
  { keys: ['m'], does: 'messages', about: 'earlier messages' },
  { keys: ['+', '-'], does: 'rate', about: 'refresh more or less often' },
  { keys: ['ctrl-z'], does: 'suspend', about: 'suspend' },
  { keys: ['q', 'ctrl-c'], does: 'quit', about: 'quit' },
]

/** Keys of one screen; they win over the global ones. */
export const SCREEN_KEYS: Readonly<Record<string, readonly Binding[]>> = {
  overview: [],
  jobs: [
    { keys: ['c'], does: 'jobs.cancel', about: 'cancel' },
    { keys: ['R'], does: 'jobs.retry', about: 'retry what failed' },
  ],
  deliveries: [
    { keys: ['R'], does: 'deliveries.replay', about: 'send again' },
    { keys: ['A'], does: 'deliveries.replay-all', about: 'send all shown again' },
    { keys: ['e'], does: 'deliveries.enable', about: 'switch the webhook on' },
  ],
  takeovers: [
    { keys: ['T'], does: 'takeovers.take', about: 'take it over' },
    { keys: ['i'], does: 'takeovers.write', about: 'write to the visitor' },
    { keys: ['d'], does: 'takeovers.draft', about: 'have the AI write a draft' },
    { keys: ['n'], does: 'takeovers.note', about: 'a note for colleagues' },
    { keys: ['h'], does: 'takeovers.hand', about: 'give it to a colleague' },
    { keys: ['ctrl-l'], does: 'takeovers.release', about: 'give it back to the AI' },
  ],
  submissions: [
    { keys: ['A'], does: 'submissions.approve', about: 'approve' },
    { keys: ['X'], does: 'submissions.reject', about: 'reject' },
    { keys: ['c'], does: 'review.checks', about: 'checks' },
    { keys: ['d'], does: 'review.diff', about: 'diff' },
    { keys: ['m'], does: 'review.manifest', about: 'manifest' },
    { keys: ['t'], does: 'review.tools', about: 'tools' },
    { keys: ['P'], does: 'review.permissions', about: 'permissions' },
    { keys: ['n', 'N'], does: 'review.hunk', about: 'next or previous hunk' },
  ],
  browser: [
    { keys: ['v'], does: 'browser.view', about: 'open the live view' },
    { keys: ['s'], does: 'browser.picture', about: 'save a picture of the page' },
    { keys: ['R'], does: 'browser.steps', about: 'what was done in it' },
    { keys: ['E'], does: 'browser.end', about: 'end the session' },
  ],
  keys: [
    { keys: ['n'], does: 'keys.create', about: 'new key' },
    { keys: ['R'], does: 'keys.rotate', about: 'rotate' },
    { keys: ['x'], does: 'keys.revoke', about: 'revoke' },
    { keys: ['e'], does: 'keys.edit', about: 'change tier, caps, limits or origins' },
    { keys: ['i'], does: 'keys.increase', about: 'decide on the higher tier that is asked for' },
  ],
  audit: [
    { keys: ['V'], does: 'audit.verify', about: 'verify the chain' },
    { keys: ['x'], does: 'audit.export', about: 'write the record to a file' },
  ],
  logs: [
    { keys: ['f5'], does: 'logs.clear', about: 'clear' },
    { keys: ['space'], does: 'pause', about: 'pause' },
  ],
}

/** What a key does on a screen; null for nothing. */
export function meaningOf(screen: string, key: KeyName): string | null {
  const all = [...(SCREEN_KEYS[screen] ?? []), ...GLOBAL]
  return all.find(({ keys }) => keys.includes(key))?.does ?? null
}
