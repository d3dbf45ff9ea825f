import { SAMPLES } from '../../src/events/schema'
import { randomBase62 } from '../../src/kernel/crypto'
import { apiOf, columnsOf, commandsOf, defined } from '../command'
import { expectData, notFoundFailure } from '../failure'
import { readValueFile } from '../files'
import { eachEntry, pageIn, tail } from '../pages'
import { argument, duration, LAST, text, whole } from '../words'

const columns = columnsOf`
  id ID keep, eventType TYPE, sourceConnector SOURCE, timestamp AT time, matchedWebhooks WEBHOOKS number,
  matchedHooks HOOKS number, matchedWorkflows WORKFLOWS number, orgId ORG wide,
  payload PAYLOAD wide ${({ payload }) => JSON.stringify(payload ?? null)}`
const listed = columns.filter(({ field }) => !field.startsWith('matched'))

const command = commandsOf('events', { apis: ['tenant', 'operator'], columns: listed })

const types = columnsOf`type EVENT keep, about WHEN`

const REPLAYED = 'replayed'
/** Number of newest events that a replay searches. */
const SEARCHED = 2_000
const ofType = text('TYPE', "only this name, or a family: 'order.*'")

export const eventCommands = [
  command`list (pages events): List events, newest first
  Lists published events, and server events that have a subscriber. On the server's machine it lists all of them, or with --org those of one organization or user.
  $ events list --type order.created
  $ events list --watch --json`({
    flags: {
      type: ofType,
      from: text('WHEN', 'from this date or time'),
      to: text('WHEN', 'before this time; a date means the end of that day'),
    },
    request({ api, ownerFilter, page }, { type, from, to }) {
      const only = { eventType: type || undefined, from: from || undefined, to: to || undefined }
      return api.events.get({ query: defined({ ...page, ...only, ...ownerFilter }) })
    },
    empty: 'No events. Publish one: svc-admin events publish order.created',
  }),
  command`tail (live): Print events as they arrive
  Runs until Ctrl-C. In a pipe, and with -o json, each event is one line of JSON. It reads the hundred newest each second.
  $ events tail
  $ events tail --type 'order.*' -o jsonl | head -n 3`({
    flags: { type: ofType, last: LAST },
    async run(shell, { type, last = 10 }) {
      const { api, ownerFilter } = await apiOf(shell)
      const query = { limit: 100, ...(type ? { eventType: type } : {}), ...ownerFilter }
      const newest = async () => expectData(await api.events.get({ query })).events
      await tail(shell, { columns: listed, newest, last, what: 'event' })
    },
  }),
  command`types (host, exits): List the names of the server's own events
  You can publish any other name. To see example data: webhooks events --sample TYPE.
  $ events types`({
    columns: types,
    answer: async () => Object.entries(SAMPLES).map(([type, { about }]) => ({ type, about })),
    empty: 'None.',
  }),
  command`publish: Publish an event, and show what it reaches
  The payload is a JSON or YAML file, or stdin with -. Without --org it goes to your active organization, or to you. Your own hooks and workflows get it either way.
  $ events publish order.created -f order.json
  $ events publish order.created --source shop --json`({
    columns,
    args: { type: argument('name of the event: words joined by dots') },
    flags: {
      file: { ...text('FILE', 'the payload'), short: 'f' },
      source: text('NAME', 'where the event comes from'),
      repeat: whole('N', 'how many times; once by default', { min: 1, max: 1_000 }),
      every: duration('TIME', 'pause between events; 1s by default'),
    },
    find: async (shell, { file }) => ({ payload: file === undefined ? null : await readValueFile(shell, file) }),
    action: ({ type }) => `publish ${type}`,
    async run(shell, { type, payload, source, repeat = 1, every = 1_000 }) {
      const { api, isOperator, ownerFilter } = await apiOf(shell)
      const connection = await shell.connect()
      // The API expects an id.
      let orgId = shell.globals.org
      if (isOperator) {
        const { id } = expectData(await connection.ops().credits.get({ query: ownerFilter }))
        orgId = id.slice(id.indexOf(':') + 1)
      } else if (orgId === undefined) {
        const { user, active_org_id } = expectData(await (await connection.tenant()).client.auth.me.get())
        orgId = active_org_id ?? user.id
      }
      const named = { orgId, eventType: type, payload }
      const input = source === undefined ? named : { ...named, sourceConnector: source }
      for (let at = 0; at < repeat && !shell.signal.aborted; at += 1) {
        if (at > 0) await shell.clock.sleep(every, shell.signal)
        const key = at === 0 ? shell.globals.idempotencyKey : undefined
        const headers = { 'idempotency-key': key ?? randomBase62(24) }
        shell.print.item(expectData(await api.events.post(input, { headers })), columns)
      }
    },
  }),
  command`replay (moderate): Publish an event again
  Publishes the same payload with a new id and the source "replayed". It searches the two thousand newest events. Server events cannot be published; use deliveries replay for those.
  $ events replay evt_01J8… --yes`({
    columns,
    args: { id: argument('id of the event, or the start of it') },
    async find(shell, { id }) {
      const { api, ownerFilter } = await apiOf(shell)
      let left = SEARCHED
      for await (const event of eachEntry((page) =>
        pageIn(api.events.get({ query: { ...page, ...ownerFilter } }), 'events'),
      )) {
        if (event.id.startsWith(id)) return event
        left -= 1
        if (left === 0) break
      }
      throw notFoundFailure(`No event ${id} among the newest.`, 'svc-admin events list')
    },
    action: ({ eventType }) => `publish ${eventType} again`,
    question: ({ eventType, timestamp }) => `Publish ${eventType} of ${timestamp} again?`,
    request: ({ api, headers }, { orgId, eventType, payload }) =>
      api.events.post({ orgId, eventType, payload, sourceConnector: REPLAYED }, { headers }),
  }),
]
