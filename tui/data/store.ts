import { boxed, dialogBox, emptyBody, helpLines, messageLines, paletteBox, pickBox, secretBox } from '../draw/boxes'
import { headRow, hintRow, messageRow, tabsRow } from '../draw/frame'
import { fitLine, type Line, line, type Tone, textSpan } from '../draw/line'
import { listBody } from '../draw/list'
import { asTyped, clockOf, spellAge } from '../draw/spell'
import { LISTS } from '../screens'
import { overview } from '../screens/overview'
import { reviewBody } from '../screens/submissions'
import { takeovers } from '../screens/takeovers'
import type { Effect, Event, Model, Picture } from '../state/model'
import { update } from '../state/update'

/** The smallest window that the frame fits in. */
const MIN = { columns: 80, rows: 24 }

const FRAME_ROWS = 5
const [OFFLINE_ROWS, OFFLINE_WIDTH] = [8, 78]

const CODES: Readonly<Record<Tone, string>> = { good: '36', warn: '33', bad: '91', retry: '95', dim: '2', strong: '1' }

/** How lines become text for the terminal. */
type Look = { color: boolean; ascii: boolean }

/** Maps each of our own symbols to one ASCII cell, so that nothing moves. Other non-ASCII characters become `?`. */
const ASCII: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...['✓+', '◐~', '….', '✗x', '↻^', '●*', '○o', '▸>', '─-', '│|', '█#', '░.', '·.', '–-', '→>', '¢c', '▼v', '▲^'],
    ...['↑^', '↓v', '⏎<', '⇥>', '“"', '”"', "’'", '∞-', '▾v', '┤+', '├+', '┌+', '┐+', '└+', '┘+', '┬+', '┴+', '┼+'],
    ...['▁ ', '▂.', '▃:', '▄-', '▅=', '▆+', '▇*', '▏=', '▎=', '▍=', '▌=', '▋=', '▊=', '▉='],
  ].map((pair) => [...pair]),
)

const toAscii = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: everything that is not ASCII
  text.replace(/[^\x00-\x7f]/gu, (sign) => ASCII[sign] ?? '?'.repeat(Math.max(1, Bun.stringWidth(sign))))

type Deps = {
  start: Model
  /** Executes an effect that the model requests. */
  perform(effect: Effect): void
  /** Calls once after a time. */
  after(ms: number, call: () => void): () => void
  /** Called when a view fails. Returns where the details are. */
  crashed(error: unknown): string
}

export type Store = ReturnType<typeof createStore>

/** Time to collect server events, so that the screen is drawn at most four times a second. */
const COLLECT_MS = 250

/** The state outside React: events go in, one text for the whole screen comes out. */
export function createStore({ start, perform, after, crashed }: Deps) {
  let model = start
  let frame = draw(model)
  let pending: (() => void) | null = null
  let held: Event[] = []
  const listeners = new Set<() => void>()
  return { dispatch, subscribe, frame: () => frame, model: () => model }

  function dispatch(event: Event): void {
    if (model.paused && (event.type === 'streamed' || event.type === 'polled')) {
      held = [...held, event].slice(-500)
      return
    }
    const wasPaused = model.paused
    apply(event)
    if (wasPaused && !model.paused) for (const one of held.splice(0)) apply(one)
    // A heartbeat alone is shown with the next second.
    if (event.type === 'streamed' && !event.events.length) return
    const isOwn = event.type === 'key' || event.type === 'pasted' || event.type === 'resized'
    if (isOwn) show()
    else pending ??= after(model.rate > 1 ? model.rate * 1_000 : COLLECT_MS, show)
  }

  function apply(event: Event): void {
    const step = update(model, event)
    model = step.model
    for (const effect of step.effects) perform(effect)
  }

  function show(): void {
    pending?.()
    pending = null
    const next = draw(model)
    if (next === frame) return
    frame = next
    for (const listener of listeners) listener()
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** A screen that cannot be drawn shows the fault. The other screens still work. */
  function draw(now: Model): string {
    try {
      return picture(now)
        .map((row) => paint(row, now.options))
        .join('\n')
    } catch (error) {
      const place = crashed(error)
      const rows = [
        line(textSpan(` The screen ${now.screen} cannot be drawn.`, 'bad')),
        line(` Details: ${place}`),
        line(' The other screens work: press 1 to 9, or q to quit.'),
      ]
      return rows.map((row) => paint(row, now.options)).join('\n')
    }
  }
}

/** One row with its colours. The selection is inverse, which works without colour (docs/operating.md 3.1). */
export function paint(spans: Line, { color, ascii }: Look): string {
  return spans
    .map(({ text, tone, inverse }) => {
      const codes = [color && tone ? CODES[tone] : null, inverse ? '7' : null].filter((code) => code !== null)
      const shown = ascii ? toAscii(text) : text
      return codes.length && shown ? `\u001b[${codes.join(';')}m${shown}\u001b[0m` : shown
    })
    .join('')
}

/** The whole screen: exactly `rows` lines of `columns` cells (docs/operating.md 3.1). */
export function picture(model: Model): Picture {
  const { columns: width, rows } = model
  if (width < MIN.columns || rows < MIN.rows) {
    const text = `Needs ${MIN.columns}x${MIN.rows}, this is ${width}x${rows}. Enlarge the window, or use svc-admin status -w.`
    const lines = Bun.wrapAnsi(asTyped(text), Math.max(1, width), { hard: true }).split('\n')
    return Array.from({ length: rows }, (_, at) => fitLine(line(lines[at] ?? ''), width))
  }
  const height = rows - FRAME_ROWS
  const rule = line(textSpan('─'.repeat(width), 'dim'))
  const body = bodyOf(model, width, height)
  const whole = [
    headRow(model, width),
    tabsRow(model, width),
    rule,
    ...Array.from({ length: height }, (_, at) => body[at] ?? []),
    messageRow(model, width),
    hintRow(model),
  ]
  return whole.map((row) => fitLine(row, width))
}

function bodyOf(model: Model, width: number, height: number): Line[] {
  const { mode } = model
  switch (mode.type) {
    case 'help':
      return helpLines(model)
    case 'messages':
      return messageLines(model, height)
    case 'output':
      return [
        line(textSpan(` ${mode.title}`, 'strong')),
        [],
        ...mode.lines.slice(mode.top, mode.top + height - 2).map((text) => line(` ${text}`)),
      ]
    case 'palette':
      return paletteBox(model, emptyBody(height), width)
    case 'dialog':
      return dialogBox(model, mode.dialog, screenBody(model, width, height), width)
    case 'pick':
      return pickBox(model, screenBody(model, width, height), width)
    case 'secret':
      return secretBox(model, emptyBody(height), width)
    default:
      return offline(model, screenBody(model, width, height), width)
  }
}

function screenBody(model: Model, width: number, height: number): Line[] {
  if (model.screen === 'overview') return overview(model, width, height)
  if (model.screen === 'takeovers') return takeovers(model, width, height)
  if (model.screen === 'submissions' && model.review) return reviewBody(model, width, height)
  return listBody(LISTS[model.screen]!, model, width, height)
}

/** Old rows stay readable above a box with the problem and the next step (docs/operating.md 3.5). */
function offline(model: Model, body: Line[], width: number): Line[] {
  const { link, now, topics, screen, where } = model
  if (link.state !== 'offline') return body
  const at = topics[screen]?.at
  const next = Math.max(0, Math.ceil((link.nextTryAt - now) / 1_000))
  const rows = [
    line(`Problem ${link.problem} at ${where.address} (${spellAge(now - link.since)} ago)`),
    line(
      at
        ? `Shown   rows from ${clockOf(Date.parse(at))}; actions are disabled until it is back`
        : 'Shown   nothing yet',
    ),
    line(`Next    try ${link.tries + 1} in ${next}s`),
    [],
    line('r try now    d run doctor    p switch profile    q quit'),
  ]
  const height = Math.max(body.length, OFFLINE_ROWS)
  const padded = [...body, ...emptyBody(height)].slice(0, Math.max(height, 18))
  return boxed(padded, 'The server stopped answering', rows, width, padded.length - OFFLINE_ROWS, OFFLINE_WIDTH)
}
