import type { TopicFacts } from '../../src/operators/topics-schema'
import { fact, line, type Span, textSpan } from '../draw/line'
import { momentOf, spellCount } from '../draw/spell'
import { type Model, type RowOf, rowsOf } from '../state/model'
import { column, dialog, its, listView } from './list-view'

type Event = RowOf<'audit'>
type Chain = TopicFacts<'audit'>['chains'][number]
/** The operator who made the change, if it was one. */
const operatorOf = ({ inputSummary }: Event) =>
  inputSummary.operator as { name?: string; reason?: string | null; transport?: string } | undefined

function whoOf(event: Event): string {
  const { key, userId } = event
  const operator = operatorOf(event)
  if (operator?.name) return `op ${operator.name.split('@')[0]}`
  if (key) return `key ${key}`
  return userId ? `user ${userId.slice(0, 8)}` : 'system'
}

const aboutOf = ({ entityType, entityId }: Event): string => entityId ?? entityType
const shortHash = (hash: string): string => `${hash.slice(0, 4)}…${hash.slice(-4)}`

/** Checks that the previous event in the chain, if loaded, has the hash that this event names. */
function linkOf({ scope, seq, prevHash }: Event, model: Model): Span {
  const before = rowsOf(model, 'audit').find((one) => one.scope === scope && one.seq === seq - 1)
  if (!before) return textSpan('')
  const fits = before.hash === prevHash
  const name = `#${spellCount(seq - 1)}`
  return fits ? textSpan(`   ✓ links to ${name}`, 'good') : textSpan(`   ✗ does not link to ${name}: press V`, 'bad')
}

function signedOf({ scope, seq }: Event, { topics, now }: Model): string {
  const chain = ((topics.audit?.facts.chains ?? []) as Chain[]).find((one) => one.scope === scope)
  return chain?.signed_at
    ? `   of ${spellCount(Math.max(seq, chain.seq))}, signed ${momentOf(chain.signed_at, now)}`
    : ''
}

const QUIET = new Set(['operator', 'endpoint', 'method', 'api_key_id'])
const summaryOf = (summary: Record<string, unknown>): string =>
  Object.entries(summary)
    .filter(([name, value]) => !QUIET.has(name) && value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(', ') || '–'

export const audit = listView<Event>({
  margin: 4,
  order: 'sort newest',
  above: ({ now }, facts) => {
    const chains = (facts.chains ?? []) as Chain[]
    const [newest] = chains
    const total = chains.reduce((sum, { seq }) => sum + seq, 0)
    return [
      line(
        ' chains  ',
        newest ? `${chains.length}, ${spellCount(total)} events` : 'none yet',
        newest ? `   head ${shortHash(newest.hash)} at #${spellCount(newest.seq)}` : '',
        newest?.signed_at ? textSpan(`   ✓ signed ${momentOf(newest.signed_at, now)}`, 'good') : '',
      ),
    ]
  },
  columns: [
    column('SEQ', 10, ({ seq }) => seq, { spare: true, cell: ({ seq }) => textSpan(spellCount(seq)) }),
    column('AT', 10, ({ timestamp }) => timestamp, { cell: ({ timestamp }, { now }) => momentOf(timestamp, now) }),
    column('WHO', 13, whoOf),
    column('ACTION', 25, ({ action }) => action),
    column('ON', 18, aboutOf, { grows: true }),
  ],
  fields: {
    ...its<Event>('action', 'owner', 'seq', 'id'),
    who: whoOf,
    on: aboutOf,
    request: ({ requestId }) => requestId,
  },
  title: ({ seq }) => `#${spellCount(seq)}`,
  drawerRows: 7,
  drawer: (event, model) => [
    fact(
      'request',
      event.requestId.padEnd(34),
      operatorOf(event)?.reason ? `reason "${operatorOf(event)!.reason}"` : '',
    ),
    fact('input', summaryOf(event.inputSummary)),
    fact('output', summaryOf(event.outputSummary)),
    fact('hash', `prev ${shortHash(event.prevHash)}   this ${shortHash(event.hash)}`, linkOf(event, model)),
    fact('chain', `${event.owner ?? event.scope}   #${spellCount(event.seq)}`, signedOf(event, model)),
    ...(operatorOf(event)
      ? [fact('from', `${operatorOf(event)!.transport ?? 'socket'}, stated as ${operatorOf(event)!.name ?? 'unknown'}`)]
      : []),
  ],
  empty: ['Nothing is recorded yet.'],
  hints: '⏎ full record  V verify chain  x export  t trace request  / filter  ? help',
  actions: {
    'audit.export': ([event]) =>
      !event
        ? 'There is no chain yet.'
        : dialog(
            `Write the record of ${event.owner ?? event.scope} to a file?`,
            ['Writes the whole chain as CSV, which spreadsheets can open.', 'The export is recorded.'],
            [['audit', 'export', event.scope, '--out', '$']],
            'Write file',
            { label: 'File', flag: null, text: 'audit.csv', required: true },
          ),
    'audit.verify': ([event]) =>
      !event
        ? 'There is no chain yet.'
        : dialog(
            `Verify the chain of ${event.owner ?? event.scope}?`,
            ['Hashes each event again. Nothing is changed.'],
            [['audit', 'verify', '--org', event.scope]],
            'Verify',
          ),
  },
  requestOf: ({ requestId }) => requestId,
})
