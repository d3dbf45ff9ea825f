/** A viewer's knowledge of the session and of its own connection. */
export type Known = {
  link: 'connecting' | 'live' | 'away' | 'over'
  /** Why the connection ended, or why it is retried. */
  why: Why | null
  tries: number
  holds: boolean
  held: boolean
  wanted: string | null
  step: string | null
  idle: boolean
  /** True while a lost page is being reopened. */
  lost: boolean
}
export type Why = 'ended' | 'expired' | 'refused' | 'unconfigured' | 'blocked'

/** Reasons by the close code of a stream. Any other code leads to a retry. */
export const WHY: Readonly<Record<number, Why>> = {
  1008: 'refused',
  4401: 'expired',
  4410: 'ended',
  4429: 'blocked',
  4501: 'unconfigured',
}

const OVER: Readonly<Record<Exclude<Why, 'blocked'>, string>> = {
  ended: 'The session has ended',
  expired: 'This link has expired. Get a new link from the page where you found it.',
  refused: 'The server closed this view',
  unconfigured: 'This server has no browser',
}

const STEPS: Readonly<Record<string, string>> = {
  browser_navigate: 'The agent is opening a page',
  browser_act: 'The agent is working on the page',
  browser_extract: 'The agent is reading the page',
  browser_observe: 'The agent is looking at the page',
  browser_screenshot: 'The agent is taking a screenshot',
}

/** The state's name, and the text in the status line (docs/operating.md 5.4). */
export function stateOf(known: Known): { name: string; words: string } {
  const { link, why, tries } = known
  if (link === 'over') return { name: why ?? 'ended', words: OVER[(why ?? 'ended') as keyof typeof OVER] }
  if (why === 'blocked') return { name: 'blocked', words: `Too many viewers in this session. Try ${tries}` }
  if (link === 'connecting') return { name: 'connecting', words: 'Connecting' }
  if (link === 'away') return { name: 'reconnecting', words: `Reconnecting, try ${tries}` }
  if (known.lost) return { name: 'swapped', words: 'The page was lost and is reopening' }
  if (known.holds) return { name: 'control', words: 'You have control. Press Ctrl+Alt+Esc to leave the picture' }
  if (known.held) return { name: 'other', words: 'Someone else has control' }
  if (known.wanted) return { name: 'wanted', words: `A person is needed: ${known.wanted}` }
  if (known.step) return { name: 'live', words: `Live. ${STEPS[known.step] ?? 'The agent is working'}` }
  return known.idle ? { name: 'idle', words: 'Live. No step is running' } : { name: 'live', words: 'Live' }
}
