import { column, columnsOf, commandsOf } from '../command'
import { expectData, usageFailure } from '../failure'
import { readValueFile } from '../files'
import type { Shell } from '../shell'
import { flag, needed, oneOf, optional, text } from '../words'

const command = commandsOf('engines', { apis: ['operator'] })

/** Running calls keep the settings they started with. */
export const inUse = async (shell: Shell): Promise<string | undefined> =>
  (await shell.connect()).transport.kind === 'local'
    ? undefined
    : 'New requests use it now; other nodes follow within a second.'
export const noteInUse = (_answer: object, _input: object, shell: Shell) => inUse(shell)

const priceColumns = [
  ...columnsOf`
    id ENGINE, mode MODE min, sample_cents SAMPLE¢ number, before_cents BEFORE¢ number wide, sample SAMPLE,
    set_by SET BY`,
  ...(
    ['promptPer1k', 'cachedPromptPer1k', 'completionPer1k', 'perImage', 'perSecond', 'perPage', 'perMinute'] as const
  ).map((member) => column(`price.${member}`, member.toUpperCase(), { kind: 'number', wide: true })),
]

const changedColumns = priceColumns.map((one) => (one.field === 'before_cents' ? { ...one, wide: false } : one))

/** Prices of engines, and their aliases for clients. */
export const namedEngineCommands = [
  command`alias (exits 3): Choose which engine answers a model name of clients
  Clients often send the model names of other services. An alias lets an engine answer such a name without a warning. A name may end in "*"; an exact name goes first, then the longest beginning. With --listed, GET /models lists it. Aliases of svc.server.json (modelAliases) are changed there.
  $ engines alias list
  $ engines alias set "gpt-*" svc-1-flash
  $ engines alias rm "gpt-*"`({
    columns: columnsOf`name ALIAS, engine ENGINE, listed LISTED flag, set_in SET IN`,
    args: {
      action: oneOf(['set', 'rm', 'list'], 'set, rm or list'),
      name: optional('the name that clients send'),
      engine: optional('the engine id that answers it'),
    },
    flags: { listed: flag('list it in GET /models') },
    action({ action, name, engine }) {
      const example = 'svc-admin engines alias set "gpt-*" svc-1-flash'
      if ((action !== 'list' && !name) || (action === 'set' && !engine))
        throw usageFailure(`engines alias ${action} needs a name${action === 'set' ? ' and an engine' : ''}.`, example)
      if (action === 'list') return undefined
      return action === 'set' ? `let ${engine} answer the model name ${name}` : `remove the alias ${name}`
    },
    async answer({ ops, shell }, { action, name = '', engine = '', listed }): Promise<object | undefined> {
      const { aliases } = ops.engines
      if (action === 'list') return expectData(await aliases.get()).aliases
      if (action === 'set') return expectData(await aliases.put({ name, engine, listed }))
      const removed = expectData(await aliases({ name }).delete())
      shell.print.item(removed, columnsOf`name NAME, removed_from REMOVED FROM`)
      return undefined
    },
    empty: 'No aliases.',
    note: (answer, { action }, shell) => (action === 'list' ? undefined : noteInUse(answer, {}, shell)),
  }),
  command`embed (exits): Accept that the vectors of svc-1-embed are of another model or length
  Clients store vectors, and those of two models do not compare. The first answer fixes the model and the length. Another model is shown in the health report until you accept it; a model whose vectors change their length is refused until then. Clients see the change in svc_metadata.vector_space, and make new vectors.
  $ engines embed accept`({
    columns: columnsOf`engine ENGINE, model MODEL, was_model WAS, was_length LENGTH`,
    args: { action: oneOf(['accept'], 'accept') },
    action: () => 'accept the vectors of svc-1-embed as they are now',
    request: ({ ops }) => ops.engines.embed.accept.post(),
    note: noteInUse,
  }),
  command`prices (exits, shows prices): Show what each engine costs, with a sample request
  Prices are in micro-cents; a million micro-cents are one cent. SET BY shows where a price comes from. It is engines set-prices ("here"), SVC_PRICES, svc.server.json, the first upstream, or svc itself.
  $ engines prices
  $ engines prices -o csv > prices.csv`({
    columns: priceColumns,
    request: ({ ops }) => ops.engines.prices.get(),
    empty: 'No engines.',
  }),
  command`set-prices (writes, exits 5): Change the prices of engines, and show the new cost of a sample request
  The file lists micro-cents by engine: {"svc-1-flash": {"promptPer1k": 20000}}. Prices it does not list stay the same; null restores the engine's own price. New calls use the new prices on every node. Calls that are already running use the old ones.
  $ engines set-prices -f prices.json --dry-run
  $ engines set-prices -f prices.yaml --json`({
    columns: changedColumns,
    flags: {
      file: needed(
        { ...text('FILE', 'the prices, as JSON, JSONC, YAML or TOML; - reads stdin'), short: 'f' },
        'svc-admin engines prices --json',
      ),
    },
    async run(shell, { file }) {
      const prices = (await readValueFile(shell, file)) as Record<string, Record<string, number> | null>
      const connection = await shell.connect()
      const put = async (dry_run: boolean) => expectData(await connection.ops().engines.prices.put({ prices, dry_run }))
      const { prices: found } = await put(true)
      const isPlan = found.length > 0 && shell.planned(`change the prices of ${found.map(({ id }) => id).join(', ')}`)
      shell.print.list(found, changedColumns, 'These prices are already set.')
      if (isPlan || !found.length) return
      await put(false)
      const line = await inUse(shell)
      if (line) shell.note(line)
    },
  }),
]
