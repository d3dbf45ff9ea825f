import { hintsWith } from '../keymap'
import { LISTS, TITLES } from '../screens'
import { needsOf } from '../screens/needs'
import { isLocked, submissionPath } from '../screens/submissions'
import { type Model, SCREENS } from '../state/model'
import { between, fit, type Line, line, type Span, textSpan, widthOf } from './line'
import { clockOf, spellAge } from './spell'

const QUIET_MS = 15_000

/** The state of the connection, in words and a symbol. */
function linkSpan({ link, now, paused, rate }: Model): Span {
  if (link.state === 'offline') return textSpan(`○ offline ${spellAge(now - link.since)}`, 'bad')
  if (paused) return textSpan('– paused', 'warn')
  if (link.state === 'connecting') return textSpan('… connects', 'dim')
  if (link.state === 'polling') return textSpan('● polling 2s', 'warn')
  return now - link.heardAt > QUIET_MS
    ? textSpan('● silent', 'warn')
    : textSpan(rate > 1 ? `● live ${rate}s` : '● live', 'good')
}

/** The first row: screen, server and connection state. */
export function headRow(model: Model, width: number): Line {
  const { where, screen, now, canWrite } = model
  const link = linkSpan(model)
  const isWide = width >= 120
  const state = fit(link.text, Math.max(11, Bun.stringWidth(link.text) + 2))
  const right = line(' ', { ...link, text: state }, clockOf(now))
  const writes = canWrite ? `read-write as op ${where.operator.split(' ')[0]}` : 'read-only'
  const name = where.production ? textSpan(where.name, 'bad') : textSpan(where.name)
  const left = line(
    textSpan(' svc-admin', 'strong'),
    `  ${fit(TITLES[screen][0], isWide ? 18 : 16)}`,
    name,
    `  ${where.address}`,
    ...(isWide ? [`     ${writes}`] : canWrite ? [] : [textSpan('  read-only', 'warn')]),
  )
  return between(left, right, width)
}

/** Texts of different lengths, each with its own distance from the tabs. */
const HELP = ['  : command  / filter  ? help ', '  / filter  ? help ', '  ? help ']

/** The second row: the screens, each with the number of items that wait for a person. */
export function tabsRow(model: Model, width: number): Line {
  const of = (kind: string) => needsOf(model).find((need) => need.kind === kind)?.count
  const counts: Partial<Record<string, number>> = { takeovers: of('visitors'), submissions: of('submissions') }
  const isOff = model.link.state === 'offline'
  const isWide = width >= 120
  const tabs = SCREENS.map((screen, at) => {
    const count = counts[screen]
    const mark = count === undefined ? '' : `·${isOff ? '?' : count}`
    return {
      screen,
      text: `${at + 1} ${TITLES[screen][isWide ? 0 : 1]}${mark}`,
      needs: count !== undefined && count > 0,
    }
  })
  const spans = tabs.flatMap(({ screen, text, needs }, at): Span[] => {
    const isOpen = screen === model.screen
    const before = isOpen ? (at ? ' [' : '[') : ' '
    const shown = {
      text: isOpen ? `${before.trim()}${text}]` : text,
      tone: isOpen ? 'strong' : needs ? 'warn' : undefined,
    } as Span
    const gap = isWide ? (isOpen || at === 0 ? ' ' : '  ') : isOpen && at === 0 ? '' : ' '
    return [{ text: isOpen && at === 0 ? '' : gap }, shown]
  })
  if (!isWide) return line(...spans, '  ? help')
  const room = width - widthOf(spans)
  // The open screen's tab is never cut to make room for the keys.
  const help = HELP.find((keys) => keys.length <= room) ?? ''
  return between(spans, line(help), width)
}

/** The second to last row: the newest message, and the age of the rows. */
export function messageRow(model: Model, width: number): Line {
  const last = model.messages.at(-1)
  const isNew = last && model.now - last.at < 60_000
  const left = isNew ? line(` ${clockOf(last.at)} ${last.text}`) : []
  const { arrived } = model.lists[model.screen]
  const above = arrived ? `${arrived} new above  ` : ''
  const more = model.messages.length > 1 && model.screen === 'overview' ? `[${model.messages.length} messages]` : ''
  const right = line(`${above}${more || freshness(model)} `)
  // A new message is shown in full before the age of the rows.
  const isTight = model.link.state !== 'offline' && widthOf(left) + widthOf(right) > width
  return between(left, isTight ? [] : right, width)
}

function freshness({ link, now, topics, screen }: Model): string {
  if (link.state === 'offline') return `stale ${spellAge(now - link.since)}, try ${link.tries}/∞`
  if (link.state === 'connecting') return ''
  const trouble = topics[screen]?.trouble
  return trouble ? '[not answering]' : `[live ${spellAge(now - link.heardAt)}]`
}

const OWN_HINTS: Readonly<Partial<Record<Model['screen'], string>>> = {
  overview: '↑↓ pick  ⏎ open  r refresh  p pause  : command  / filter  ? help  q quit',
  takeovers: '↑↓ pick  T take  i write  d draft  n note  h hand over  ^L release  : ?',
}

const WIDE_HINTS: typeof OWN_HINTS = {
  overview: '↑↓ pick  ⇥ next pane  ⏎ open  r refresh  p pause  + - refresh rate  : command  / filter  ? help  q quit',
  takeovers: `${OWN_HINTS.takeovers!.replace('  : ?', '')}  ⇥ next pane  : command  ? help`,
}

/** The last row: the keys that work here now. */
export function hintRow(model: Model): Line {
  const texts = hints(model)
  return line(` ${model.mode.type === 'browse' ? hintsWith(model.keymap, model.screen, texts) : texts}`)
}

function hints(model: Model): string {
  const { mode, screen, link, review, columns } = model
  switch (mode.type) {
    case 'filter':
      return '⏎ keep  Esc drop  ↑ earlier filters'
    case 'palette':
      return '↑↓ pick  ⇥ complete  ⏎ run  ^Y copy the shell command  Esc close'
    case 'dialog':
      return '⇥ next  ⏎ choose  ^Y copy the shell command  Esc cancel'
    case 'secret':
      return 'y copy  w write file  ⏎ done'
    case 'write':
      return '⏎ send  Esc stop typing  ^L release to AI  ^D draft with AI  ^N note  ^G help'
    case 'pick':
      return '↑↓ pick  ⏎ choose  Esc close'
    case 'output':
      return '↑↓ scroll  y copy  Esc close'
    case 'help':
    case 'messages':
      return 'Esc close'
    default:
      if (link.state === 'offline') return 'r retry  d doctor  p profile  : command  q quit'
      if (review?.part === 'diff')
        return 'n next hunk  N previous  w wrap  u unified/split  c Checks  t Tools  q back  ?'
      if (review) {
        const { reviewTier = '' } = (model.details[submissionPath(review.id)]?.value ?? {}) as { reviewTier?: string }
        const locked = isLocked(model, reviewTier) ? ' (locked)' : ''
        return `A approve${locked}  X reject  k re-run checks  h log  y copy id  q back  ? help`
      }
      // If there is room, also the keys for the panes beside the list.
      if (columns >= 120 && WIDE_HINTS[screen]) return WIDE_HINTS[screen]
      return OWN_HINTS[screen] ?? LISTS[screen]!.hints
  }
}
