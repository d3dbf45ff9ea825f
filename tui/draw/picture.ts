import { LISTS } from '../screens'
import { overview } from '../screens/overview'
import { review } from '../screens/review'
import { takeovers } from '../screens/takeovers'
import type { Model, Picture } from '../state/model'
import { boxed, dialogBox, emptyBody, helpLines, messageLines, paletteBox, pickBox, secretBox } from './boxes'
import { headRow, hintRow, messageRow, tabsRow } from './frame'
import { fitLine, type Line, line, say } from './line'
import { listBody } from './list'
import { clockOf, spellAge } from './spell'

/** The smallest window that has room for the frame. */
const LEAST = { columns: 80, rows: 24 }
const FRAME_ROWS = 5

/** The whole screen: exactly `rows` lines of `columns` cells (dx 3.1). */
export function picture(model: Model): Picture {
  const { columns: width, rows } = model
  if (width < LEAST.columns || rows < LEAST.rows) return tooSmall(width, rows)
  const height = rows - FRAME_ROWS
  const rule = line(say('─'.repeat(width), 'dim'))
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

function tooSmall(width: number, rows: number): Picture {
  const text = `Needs ${LEAST.columns}x${LEAST.rows}, this is ${width}x${rows}. Enlarge the window, or use svc-admin status -w.`
  const lines = Bun.wrapAnsi(text, Math.max(1, width), { hard: true }).split('\n')
  return Array.from({ length: rows }, (_, at) => fitLine(line(lines[at] ?? ''), width))
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
        line(say(` ${mode.title}`, 'strong')),
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
  if (model.screen === 'submissions' && model.review) return review(model, width, height)
  return listBody(LISTS[model.screen]!, model, width, height)
}

const OFFLINE_ROWS = 8
const OFFLINE_WIDTH = 78

/** Old rows stay readable above a box that says what is wrong and what comes next (dx 3.5). */
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
