import { fit, type Line, line, textSpan } from '../draw/line'
import { clockOf, spellAge, spellDollars } from '../draw/spell'
import type { Model, RowOf } from '../state/model'
import { column, dialog, its, listView } from './list-view'

type Session = RowOf<'browser'>

const IDLE_MS = 30_000
const NONE = 'No browser session is open.'

/** The last action, and who performed it. */
function lastLine({ steps, last_active_at }: Session, now: number, width: number): Line {
  const last = steps.at(-1)
  const age = `${spellAge(now - Date.parse(last_active_at))} ago`
  if (!last) return line(textSpan(' last    ', 'dim'), `opened ${age}`)
  const what = `${last.tool} "${last.input.replaceAll(/\s+/g, ' ')}"`
  return line(textSpan(` ${last.actor.padEnd(7)} `, 'dim'), fit(what, Math.max(10, width - 30)), ` ${age}`)
}

const pageOf = ({ url, title }: Session): string => {
  const host = url && URL.canParse(url) ? new URL(url).host : ''
  return [host, title].filter(Boolean).join(' / ') || 'blank'
}

/** Memory of all sessions together, because Chromium does not report which process belongs to which session. */
function memoryOf({ browser: found }: Model['topics']): string {
  const { memory_mb = null } = (found?.facts ?? {}) as { memory_mb?: number | null }
  return memory_mb === null ? '' : `     pages of all ${memory_mb} MB`
}

export const browser = listView<Session>({
  margin: 4,
  order: 'oldest first',
  above: ({ topics }, facts) => {
    const { slots = 0, cap_s = 0, idle_s = 0, today_minutes = 0, today_cents = 0 } = facts as Record<string, number>
    const open = topics.browser?.rows.length ?? 0
    const today = `${Math.floor(today_minutes / 60)}h${String(today_minutes % 60).padStart(2, '0')}m`
    return [
      line(
        ` ${open} open of ${slots} slots`.padEnd(28),
        `cap ${Math.round(cap_s / 60)}m, idle close ${Math.round(idle_s / 60)}m`.padEnd(31),
        `today ${today}, ${spellDollars(today_cents)}`,
      ),
    ]
  },
  columns: [
    column('STATE', 9, ({ last_active_at }) => last_active_at, {
      cell: (one, { now }) => {
        if (one.waits) return textSpan('! wait', 'warn')
        if (now - Date.parse(one.last_active_at) > IDLE_MS) return textSpan('◐ idle', 'dim')
        return one.steps.at(-1)?.actor === 'person' ? textSpan('● person', 'warn') : textSpan('● agent', 'good')
      },
    }),
    column('ID', 17, ({ id }) => id, { cell: ({ id }) => textSpan(id.slice(0, 15)) }),
    column('PAGE', 26, pageOf, { grows: true }),
    column('LEFT', 8, ({ expires_at }) => expires_at, {
      cell: ({ expires_at }, { now }) => spellAge(Date.parse(expires_at) - now),
    }),
    column('VIEW', 6, ({ view_version }) => view_version, { cell: ({ view_version }) => textSpan(`v${view_version}`) }),
    column('KEY', 10, ({ key }) => key ?? '', { cell: ({ key, owner }) => textSpan(key ?? owner ?? '–') }),
  ],
  fields: {
    ...its<Session>('id', 'url', 'title', 'key', 'owner', 'region'),
  },
  title: ({ id }) => id,
  drawerRows: 10,
  drawer: (one, { now, topics }, width) => [
    line(
      textSpan(' url     ', 'dim'),
      `${one.url ?? 'blank'}`.slice(0, width - 32).padEnd(width - 32),
      ` region ${one.region}`,
    ),
    line(
      textSpan(' open    ', 'dim'),
      `since ${clockOf(Date.parse(one.started_at))}, ${spellAge(now - Date.parse(one.started_at))}`.padEnd(36),
      `${one.view_version} view versions   viewers ${one.viewers}`,
    ),
    lastLine(one, now, width),
    line(
      textSpan(' keep    ', 'dim'),
      `${one.keep_alive ? 'keeps alive' : 'no keep-alive'}     proxy ${one.proxies ? 'on' : 'off'}     owner ${one.owner ?? '–'}`,
      memoryOf(topics),
    ),
    ...(one.steps.length
      ? one.steps.map(({ at, tool, input, actor, ok }, place) =>
          line(
            textSpan(place ? '         ' : ' steps   ', 'dim'),
            `${clockOf(Date.parse(at))} ${tool.replace('browser_', '').padEnd(10)} ${actor.padEnd(7)}`,
            input
              .replaceAll(/\s+/g, ' ')
              .slice(0, Math.max(0, width - 47))
              .padEnd(Math.max(0, width - 47)),
            ok ? textSpan(' ✓', 'good') : textSpan(' ✗ failed', 'bad'),
          ),
        )
      : [line(textSpan(' steps   ', 'dim'), 'nothing has been done yet')]),
    ...(one.waits
      ? [
          line(textSpan(` A person is needed: ${one.wanted ?? 'the agent cannot continue'}.`, 'warn')),
          line(' Press v to open the live view and take control.'),
        ]
      : []),
  ],
  empty: ['No browser session is open.', 'Start one with POST /browser/sessions, or with a completion that browses.'],
  hints: '⏎ detail  v live view  s screenshot  R steps  E end session  y copy id  ? help',
  actions: {
    // A person who may change things can take control too.
    'browser.view': ([one], { canWrite }) =>
      one ? { run: ['browser', 'open', one.id, ...(canWrite ? ['--control'] : [])], write: false } : NONE,
    'browser.picture': ([one], { now }) =>
      one ? { run: ['browser', 'screenshot', one.id, '--out', `${one.id}-${now}.png`], write: true } : NONE,
    'browser.steps': ([one]) => (one ? { run: ['browser', 'steps', one.id], write: false } : NONE),
    'browser.end': (picked) =>
      picked.length
        ? dialog(
            picked.length === 1 ? `End session ${picked[0]!.id}?` : `End ${picked.length} sessions?`,
            ['Its pages close, and its owner pays for the time until now.', 'This cannot be undone.'],
            [['browser', 'end', ...picked.map(({ id }) => id), '--yes']],
            'End session',
          )
        : NONE,
  },
})
