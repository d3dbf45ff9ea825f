/** Every key of the dashboard in one table. Input, the help screen and the hints in the last row use it. */

export type KeyName = string
/** `first` has the default keys if the user changed them. */
export type Binding = { keys: readonly KeyName[]; does: string; about: string; first?: readonly KeyName[] }

/** Keys that mean the same on every screen. */
export const GLOBAL: readonly Binding[] = [
  { keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'], does: 'screen', about: 'go to a screen' },
  { keys: ['tab', 'shift-tab'], does: 'pane', about: 'next or previous pane' },
  { keys: ['up', 'k', 'down', 'j', 'pageup', 'pagedown', 'g', 'G', 'home', 'end'], does: 'move', about: 'move' },
  { keys: ['enter'], does: 'open', about: 'open' },
  { keys: ['space'], does: 'mark', about: 'mark the row' },
  { keys: ['/'], does: 'filter', about: 'filter this list' },
  { keys: [':'], does: 'palette', about: 'run a command' },
  { keys: ['?'], does: 'help', about: 'help for this screen' },
  { keys: ['esc'], does: 'back', about: 'back, close, no filter' },
  { keys: ['r'], does: 'refresh', about: 'refresh now' },
  { keys: ['s', 'S'], does: 'sort', about: 'sort by another column' },
  { keys: ['p'], does: 'pause', about: 'pause live updates' },
  { keys: ['f'], does: 'follow', about: 'follow the newest row' },
  { keys: ['y'], does: 'copy', about: 'copy the id' },
  { keys: ['ctrl-y'], does: 'copy-command', about: 'copy the shell command' },
  { keys: ['t'], does: 'trace', about: 'trace the request' },
  { keys: ['m'], does: 'messages', about: 'earlier messages' },
  { keys: ['+', '-'], does: 'rate', about: 'refresh more, less often' },
  { keys: ['ctrl-z'], does: 'suspend', about: 'suspend' },
  { keys: ['q', 'ctrl-c'], does: 'quit', about: 'quit' },
]

/** Keys of one screen. They win over the global ones. */
export const SCREEN_KEYS: Readonly<Record<string, readonly Binding[]>> = {
  overview: [],
  jobs: [
    { keys: ['c'], does: 'jobs.cancel', about: 'cancel' },
    { keys: ['R'], does: 'jobs.retry', about: 'retry failed jobs' },
  ],
  deliveries: [
    { keys: ['R'], does: 'deliveries.replay', about: 'send again' },
    { keys: ['A'], does: 'deliveries.replay-all', about: 'send all listed again' },
    { keys: ['b'], does: 'deliveries.body', about: 'show the body (audited)' },
    { keys: ['n'], does: 'deliveries.create', about: 'create a webhook' },
    { keys: ['e'], does: 'deliveries.enable', about: 'enable the webhook' },
  ],
  takeovers: [
    { keys: ['T'], does: 'takeovers.take', about: 'take the chat over' },
    { keys: ['i'], does: 'takeovers.write', about: 'write to the visitor' },
    { keys: ['d'], does: 'takeovers.draft', about: 'let the AI write a draft' },
    { keys: ['n'], does: 'takeovers.note', about: 'note for colleagues' },
    { keys: ['h'], does: 'takeovers.hand', about: 'hand to a colleague' },
    { keys: ['ctrl-l'], does: 'takeovers.release', about: 'release to the AI' },
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
    { keys: ['k'], does: 'review.rerun', about: 'run the checks again' },
    { keys: ['h'], does: 'review.log', about: 'history' },
    { keys: ['w'], does: 'wrap', about: 'wrap or cut long lines' },
    { keys: ['u'], does: 'review.split', about: 'old and new side by side' },
  ],
  browser: [
    { keys: ['v'], does: 'browser.view', about: 'open the live view' },
    { keys: ['s'], does: 'browser.picture', about: 'save a screenshot' },
    { keys: ['R'], does: 'browser.steps', about: 'steps' },
    { keys: ['E'], does: 'browser.end', about: 'end the session' },
  ],
  keys: [
    { keys: ['n'], does: 'keys.create', about: 'new key' },
    { keys: ['R'], does: 'keys.rotate', about: 'rotate' },
    { keys: ['x'], does: 'keys.revoke', about: 'revoke' },
    { keys: ['e'], does: 'keys.edit', about: 'edit tier, caps, origins' },
    { keys: ['b'], does: 'keys.bind', about: 'bind policy or routing' },
    { keys: ['o'], does: 'keys.owner', about: 'keys of one owner' },
    { keys: ['i'], does: 'keys.increase', about: 'decide a tier request' },
  ],
  audit: [
    { keys: ['V'], does: 'audit.verify', about: 'verify the chain' },
    { keys: ['x'], does: 'audit.export', about: 'export to a file' },
  ],
  logs: [
    { keys: ['f5'], does: 'logs.clear', about: 'clear' },
    { keys: ['space'], does: 'pause', about: 'pause' },
    { keys: ['w'], does: 'wrap', about: 'wrap or cut long lines' },
  ],
}

/** The key table of one user. */
export type Keymap = { global: readonly Binding[]; screens: Readonly<Record<string, readonly Binding[]>> }
export const KEYMAP: Keymap = { global: GLOBAL, screens: SCREEN_KEYS }

/** The action of a key on a screen, and the default key for it. Null if the key has no action. */
export function meaningOf({ global, screens }: Keymap, screen: string, key: KeyName) {
  const binding = [...(screens[screen] ?? []), ...global].find(({ keys }) => keys.includes(key))
  if (!binding) return null
  const { does, keys, first = keys } = binding
  return { does, key: first[BY_PLACE.has(does) ? keys.indexOf(key) : 0]! }
}

/** Actions whose keys differ in meaning. If a user changes them, each key needs a replacement. */
const BY_PLACE = new Set(['screen', 'pane', 'move', 'sort', 'rate', 'review.hunk'])
const KEY = /^(?:\S|ctrl-[abd-xy]|f5|tab|shift-tab|up|down|pageup|pagedown|home|end|enter|esc|space)$/u

/**
 * The table with changed keys, by action: `{"jobs.cancel":"x"}`. Throws an Error with a readable message for an unknown
 * action or key, and for a key with two meanings.
 */
export function keymapWith(changed: Readonly<Record<string, string | readonly string[]>>): Keymap {
  const wanted = new Map(Object.entries(changed).map(([does, keys]) => [does, [keys].flat()]))
  const all = [...GLOBAL, ...Object.values(SCREEN_KEYS).flat()]
  for (const [does, keys] of wanted) {
    const known = all.find((one) => one.does === does)
    if (!known)
      throw new Error(
        `There is no action "${does.slice(0, 40)}". Actions: ${[...new Set(all.map((one) => one.does))].join(', ')}.`,
      )
    const wrong = keys.find((key) => typeof key !== 'string' || !KEY.test(key))
    if (wrong !== undefined)
      throw new Error(`"${String(wrong).slice(0, 20)}" is not a key. Use a letter, ctrl-x, f5, space or enter.`)
    const isWhole = BY_PLACE.has(does) ? keys.length === known.keys.length : keys.length > 0
    if (!isWhole) throw new Error(`"${does}" needs ${known.keys.length} keys, in the order of ${known.keys.join(' ')}.`)
  }
  const changedIn = (bindings: readonly Binding[]): Binding[] =>
    bindings.map((one) => ({ ...one, first: one.keys, keys: wanted.get(one.does) ?? one.keys }))
  const screens = Object.fromEntries(Object.entries(SCREEN_KEYS).map(([name, own]) => [name, changedIn(own)]))
  const keymap = { global: changedIn(GLOBAL), screens }
  for (const own of [[], ...Object.values(screens)]) assertApart([...own, ...keymap.global], wanted)
  return keymap
}

function assertApart(bindings: readonly Binding[], wanted: ReadonlyMap<string, readonly string[]>): void {
  for (const { does, keys } of bindings.filter((one) => wanted.has(one.does))) {
    const other = bindings.find((one) => one.does !== does && one.keys.some((key) => keys.includes(key)))
    if (other)
      throw new Error(
        `"${keys.find((key) => other.keys.includes(key))}" would do two things: ${does} and ${other.does}. Choose another key for one of them.`,
      )
  }
}

const GLYPHS: Readonly<Record<string, string>> = { enter: '⏎', esc: 'Esc', f5: 'F5', tab: '⇥' }
const glyphOf = (key: KeyName): string =>
  GLYPHS[key] ?? key.replace(/^ctrl-(.)$/, (_, letter) => `^${letter.toUpperCase()}`)

/** The hints of a screen, `c cancel  R retry`, with this user's keys. */
export function hintsWith({ global, screens }: Keymap, screen: string, hints: string): string {
  const moved = [...(screens[screen] ?? []), ...global].filter(({ keys, first = keys }) => keys[0] !== first[0])
  if (!moved.length) return hints
  const parts = hints.split('  ').map((part) => {
    const [key, ...words] = part.split(' ')
    const found = moved.find(({ first }) => glyphOf(first![0]!) === key)
    return found ? [glyphOf(found.keys[0]!), ...words].join(' ') : part
  })
  return parts.join('  ')
}
