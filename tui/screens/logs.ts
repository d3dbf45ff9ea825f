import { fact, fitLine, type Line, line, type Span, textSpan, wrapped } from '../draw/line'
import { asTyped, clockOf, spellCount, spellMoney, spellMs } from '../draw/spell'
import type { Model, RowOf } from '../state/model'
import { column, its, listView } from './list-view'

type Entry = RowOf<'logs'>

function statusOf({ status }: Entry): Span {
  if (status >= 500) return textSpan(`${status} ✗`, 'bad')
  return status >= 400 ? textSpan(`${status} !`, 'warn') : textSpan(String(status), 'good')
}

/** Advice per error code, if one sentence is enough. */
const FIXES: Readonly<Record<string, string>> = {
  insufficient_credits: 'credits grant OWNER 10.00 --reason "…", or raise the cap of the key',
  rate_limit_exceeded: 'tiers set KEY TIER, or let the client wait for Retry-After',
  mode_rate_limit_exceeded: 'other modes still work; tiers set KEY TIER raises the limit',
  token_limit_exceeded: 'tiers set KEY TIER, or send shorter prompts',
  invalid_api_key: 'keys list shows the keys; keys check identifies a key by its secret',
  missing_scope: 'keys update KEY --scopes … adds the scope',
  engine_unavailable: 'engines test tests the upstream',
  storage_unavailable: 'doctor database disk',
}

function tracePath({ id }: Pick<Entry, 'id'>): string {
  return `requests/${id}`
}

type Step = { kind: string; name: string; ms: number; facts: Record<string, unknown> }

/** The stages of the request, with their times: `auth 1ms  limits 0ms  reserve ✗`. */
function pipeline(entry: Entry, { details }: Model, width: number): Line[] {
  const { steps = [] } = (details[tracePath(entry)]?.value ?? {}) as { steps?: Step[] }
  const stages = steps
    .filter(({ kind }) => kind !== 'settled')
    .map(({ name, ms, facts }) => {
      const isBad = Boolean(facts.failed || facts.error)
      return textSpan(`${name} ${isBad ? '✗' : spellMs(ms)}  `, isBad ? 'bad' : undefined)
    })
  return stages.length ? [fitLine([textSpan(' pipeline ', 'dim'), ...stages], width)] : []
}

export const logs = listView<Entry>({
  margin: 1,
  order: 'following',
  columns: [
    column('TIME', 10, ({ at }) => at, { cell: ({ at }) => textSpan(clockOf(Date.parse(at))) }),
    column('ST', 6, ({ status }) => status, { cell: statusOf }),
    column('METHOD', 7, ({ method }) => method),
    column('PATH', 15, ({ path }) => path, { grows: true, cell: ({ path }) => textSpan(path.replace('/api/v1', '')) }),
    column('MS', 7, ({ ms }) => ms, { cell: ({ ms }) => textSpan(spellMs(ms).padStart(6)) }),
    column('COST', 8, ({ cost_cents }) => cost_cents ?? 0, {
      cell: ({ cost_cents }) => (cost_cents === null ? '–' : spellMoney(cost_cents)),
    }),
    column('KEY', 12, ({ key }) => key),
    column('REQUEST', 15, ({ id }) => id, { spare: true, cell: ({ id }) => textSpan(id.slice(0, 14)) }),
  ],
  fields: {
    ...its<Entry>('status', 'method', 'path', 'ms', 'key', 'code'),
    cost: ({ cost_cents }) => cost_cents,
    request: ({ id }) => id,
    age: ({ at }) => Date.now() - Date.parse(at),
  },
  title: ({ id }) => id,
  drawerRows: 8,
  drawer: (entry, model, width) => [
    line(
      ` ${entry.status}${entry.code ? ` ${entry.code}` : ''}   ${entry.method} ${entry.path}`,
      `   key ${entry.key ?? '–'}`,
    ),
    fact(
      'took',
      `${spellMs(entry.ms)}   at ${clockOf(Date.parse(entry.at))}   ${entry.cost_cents === null ? 'not charged' : `charged ${spellMoney(entry.cost_cents)}`}`,
    ),
    fact('who', entry.user ? `user ${entry.user}` : 'not signed in'),
    ...pipeline(entry, model, width),
    ...(entry.code && FIXES[entry.code]
      ? wrapped(asTyped(`svc-admin ${FIXES[entry.code]}`), model.wrap ? width - 11 : 1_000, 3).map((text, at) =>
          line(textSpan(at ? '          ' : ' fix      ', 'dim'), text),
        )
      : []),
    ...(entry.status >= 400 ? [fact('help', asTyped(`svc-admin help error ${entry.code ?? ''}`))] : []),
    line(textSpan(' contents of requests and answers are not stored', 'dim')),
  ],
  empty: ['No requests since the server started.', `Each process keeps its newest ${spellCount(2_000)} in memory.`],
  hints: 'space pause  / filter  ⏎ trace  y copy request id  F5 clear  w wrap  ? help',
  actions: {},
  reads: tracePath,
  requestOf: ({ id }) => id,
})
