import { columnsOf, commandsOf, defined } from '../command'
import { expectData, usageFailure } from '../failure'
import { choice, needed, optional, text } from '../words'

const ENTRIES = columnsOf`
  enabled ON flag, entries ANSWERS number, bytes BYTES number, max_bytes MOST number, hits HITS number,
  misses MISSES number, hit_rate HIT RATE ${({ hit_rate }) => `${(Number(hit_rate) * 100).toFixed(1)}%`},
  saved_cents SAVED¢ money, by_mode BY MODE ${({ by_mode }) => (by_mode as Mode[]).map(spellMode).join(', ')}`
type Mode = { mode: string; entries: number; hits: number }
const spellMode = ({ mode, entries, hits }: Mode): string => `${mode} ${entries} (${hits} hits)`

const ANSWERS = columnsOf`
  completion_id ANSWER, owner OF, key_id KEY wide, mode MODE, model MODEL, hits HITS number, cost_cents COST¢ money,
  created MADE time, expires UNTIL time`

const command = commandsOf('cache', { apis: ['operator'], offline: false })

export const cacheCommands = [
  command`stats: Show the number of cached answers and what they saved
  Counts from the start of the server that answers; each node has its own cache. usage show reports an org's savings for any period.
  $ cache stats
  $ cache stats --watch`({ columns: ENTRIES, exits: [], request: ({ ops }) => ops.cache.get() }),
  command`inspect (exits 3 5, shows answers): Show whether a prompt would be served from the cache, and why
  Lists the cached answers for exactly this prompt, with their owners and expiry times. Their text is not shown. An answer is used only when the rest of the request is the same too.
  $ cache inspect "What is the capital of France?"
  $ cache inspect --prompt "hello" --org acme --mode fast --json`({
    columns: ANSWERS,
    args: { words: optional('the exact prompt') },
    flags: {
      prompt: text('TEXT', 'the prompt, if it starts with a dash'),
      owner: text('WHO', 'only answers of this org or user'),
      key: text('KEY', 'only answers that this key paid for'),
      mode: text('MODE', 'only answers of this mode'),
    },
    request({ ops, shell }, { words, prompt = words, owner = shell.globals.org, key, mode }) {
      if (prompt === undefined) throw usageFailure('cache inspect needs a prompt.', 'svc-admin cache inspect "…"')
      const narrowed = { owner: owner || undefined, key: key || undefined, mode: mode || undefined }
      return ops.cache.find.post(defined({ prompt, ...narrowed }))
    },
    empty: 'No such answer.',
    note: ({ verdict, why }) => `${verdict}: ${why}`,
  }),
  command`purge (moderate): Clear cached answers
  Deletes the cached answers of one org or user, of one key, of one mode, or all of them. Nothing else is lost; the next request is answered and charged again. Each node has its own cache. Recorded as cache.purged.
  $ cache purge acme --scope org
  $ cache purge think --scope mode --yes
  $ cache purge --scope all`({
    columns: columnsOf`purged FORGOTTEN number`,
    args: { name: optional('the org or user, the key, or the mode') },
    flags: {
      scope: needed(
        choice(['org', 'key', 'mode', 'all'], 'what NAME is; all does not need one'),
        '--scope org, key, mode or all',
      ),
    },
    async find(shell, { name, scope }) {
      if ((scope === 'all') !== (name === undefined)) {
        const message = scope === 'all' ? '--scope all takes no NAME.' : `--scope ${scope} needs a NAME.`
        throw usageFailure(message, 'svc-admin cache purge acme --scope org')
      }
      const { entries } = expectData(await (await shell.connect()).ops().cache.get())
      const what = scope === 'all' ? `all ${entries} cached answers` : `the cached answers of ${scope} ${name}`
      return { entries, what }
    },
    action: ({ what }) => `forget ${what}`,
    question: ({ what, scope, entries }) =>
      `Delete ${what}${scope === 'all' ? '? The next requests will be charged again.' : `, of ${entries} in all?`}`,
    named: ({ scope }) => (scope === 'all' ? 'all' : null),
    request: ({ ops }, { scope, name }) => ops.cache.purge.post({ scope, ...(name ? { name } : {}) }),
  }),
]
