import { clean } from '../../src/kernel/text'
import { columnsOf, commandsOf, defined } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { readSecretInput } from '../secret'
import type { Shell } from '../shell'
import {
  argument,
  choice,
  duration,
  type Flag,
  type FlagsGiven,
  flag,
  list,
  needed,
  optional,
  repeated,
  text,
  whole,
} from '../words'
import { inUse, namedEngineCommands, noteInUse } from './engine-names'

export type Check = { check: string; ok: boolean; latency_ms: number; detail: string }

const spellCheck = ({ check, ok, latency_ms, detail }: Check): string =>
  ok ? `${check} ${latency_ms} ms` : `${check} failed: ${detail}`

const savedColumns = columnsOf`name NAME, kind KIND, models MODELS list, modes MODES list, saved_to SAVED TO`

type Saved = { saved_to: string | null; tests: { id: string; checks: Check[] }[] }

/** Prints the tests of an upstream. `way` is another way to fix a failure. @throws CheckFailed when nothing was saved */
function tested(shell: Shell, saved: Saved, way = ''): Saved {
  for (const { id, checks } of shell.globals.quiet ? [] : saved.tests)
    for (const check of checks) {
      const word = check.ok ? shell.paint('good', 'ok  ') : shell.paint('bad', 'fail')
      shell.io.err(`${word}  ${clean(`${id}  ${spellCheck(check)}`)}`)
    }
  if (saved.saved_to !== null) return saved
  shell.note(`Nothing was saved. Fix the problem and try again${way}, or add --no-test.`)
  throw new CheckFailed()
}

const MAX_TOKENS = 100_000_000
const MAX_PRICE = 1_000_000_000_000

/** A flag for an ability of an upstream. Null (`auto`) uses what the upstream reports or is known for. */
function ability(about: string): Flag<boolean | null | undefined> {
  const { read, ...words } = choice(['yes', 'no', 'auto'], about)
  return {
    ...words,
    read(word) {
      const known = read(word, undefined)
      return known === 'auto' ? null : known === 'yes'
    },
  }
}

/** The settings of an upstream, as flags (docs/api.md 28.4). */
const SETTING_FLAGS = {
  contextWindow: whole('N', 'maximum tokens of prompt and answer together', { min: 1_000, max: MAX_TOKENS }),
  maxOutputTokens: whole('N', 'maximum tokens of an answer', { min: 1, max: 1_000_000 }),
  callTimeout: duration('90s', 'longest whole call'),
  silence: duration('20s', 'longest wait for the next byte'),
  concurrency: whole('N', 'maximum calls at a time, the others wait; 0 means no limit', { min: 0, max: 100_000 }),
  header: repeated('NAME:VALUE', 'header sent with every call'),
  vision: ability('whether it accepts images; auto uses what it reports'),
  tools: ability('whether it supports tools'),
  jsonOutput: ability('whether it can answer in JSON on request'),
  documents: ability('whether it reads documents as they are; auto means no'),
  recordings: ability('whether it hears recordings as they are; auto means no'),
  imageEdits: ability('whether it edits pictures; auto knows some models'),
  translates: ability('whether it has /audio/translations; auto means no'),
  pricePrompt: whole('N', 'micro-cents for 1,000 tokens of a prompt', { min: 0, max: MAX_PRICE }),
  priceCompletion: whole('N', 'micro-cents for 1,000 tokens of an answer', { min: 0, max: MAX_PRICE }),
}

/** Repeated here, because importing the engines' own list would load every driver even for `--help`. */
const UPSTREAM_KINDS = ['compat', 'anthropic', 'google', 'openai'] as const

const columns = columnsOf`
  id ENGINE, mode MODE, rank RANK number, target ANSWERED BY, kind KIND, state STATE, status STATUS, source SET IN,
  address ADDRESS wide, why WHY wide, overrides INSTEAD OF wide, problem PROBLEM wide`

const testColumns = columnsOf`
  id TARGET, kind KIND, ok OK flag, checks CHECKS ${({ checks }) => (checks as Check[]).map(spellCheck).join(', ')}`

const args = { name: argument('the name you gave it with engines add') }
const command = commandsOf('engines', { apis: ['operator'], columns: savedColumns, args })
const writing = { exits: [3, 5, 9], args } as const
const NO_ADDRESS = 'add --base-url URL'

export const engineCommands = [
  command`list (exits, shows engines): List the engines and the upstreams of each
  Shows one line for each target, in the order they are tried. Each upstream is asked whether it answers, at no cost. STATUS is what GET /models shows. SET IN is "here" for settings made while a server ran. Only operators see these names; no API answer contains them.
  $ engines list`({
    columns,
    request: ({ ops }) => ops.engines.get(),
    empty: 'No engines.',
  }),
  command`add (exits 5 9): Connect an upstream that answers the text modes
  Tests the upstream with real calls first, and saves nothing if one fails. Running servers use it at once, on every node, ahead of the current targets. Running calls finish as they started. Settings are stored in the database, and the key is encrypted. Without --models, it uses every model that the upstream lists, up to 20. The first model answers; the others take over when it fails. Without a price, calls cost what engines prices shows. The key comes from --from-file, stdin or a hidden prompt, never from a flag.
  $ engines add main --kind compat --base-url http://127.0.0.1:8080/v1 --models a-small --no-key
  $ engines add main --kind anthropic --models m-large,m-small --from-file key.txt
  $ engines add eyes --base-url http://127.0.0.1:8081/v1 --models v --no-key --vision yes --concurrency 4`({
    args: { name: argument('a name for it: lower-case letters, digits and hyphens') },
    flags: {
      kind: { ...choice(UPSTREAM_KINDS, 'its wire format; compat is any chat-completions server') },
      baseUrl: text('URL', 'its address; required for compat'),
      models: list('m1,m2', 'its model names, best first; all that it lists by default'),
      fromFile: text('FILE', 'a file that contains its key; - reads stdin'),
      noKey: flag('it does not need a key'),
      noTest: flag('save without testing'),
      ...SETTING_FLAGS,
    },
    action: ({ name, kind = 'compat' }) => `connect ${name} (${kind}) for the text modes`,
    async answer({ ops, shell }, { name, kind = 'compat', baseUrl, models, fromFile, noKey, noTest, ...given }) {
      // Null resets a setting, and a new upstream has none.
      const settings = Object.entries(settingsOf(given) ?? {}).filter(([, value]) => value !== null)
      // Asked before the key, so that nobody types a key in vain.
      const address = baseUrl || (kind === 'compat' && shell.prompt.line('Address, such as http://host/v1', NO_ADDRESS))
      if (kind === 'compat' && !address) throw usageFailure('The address is empty.', NO_ADDRESS)
      const input = { label: 'API key', fromFile, instead: 'add --from-file FILE or --no-key' }
      const key = noKey ? undefined : await readSecretInput(shell, input)
      const same = { name, kind, test: !noTest, models, base_url: address || undefined, api_key: key }
      const body = { ...same, settings: settings.length ? Object.fromEntries(settings) : undefined }
      const saved = expectData(await ops.engines.post(defined(body)))
      return tested(shell, saved, models ? '' : ', choose models with --models m1,m2')
    },
    async note(_, { name, pricePrompt, priceCompletion }, shell) {
      const used = (await inUse(shell)) ?? ''
      if (pricePrompt !== undefined || priceCompletion !== undefined) return used || undefined
      // The new upstream has no price of its own.
      const { prices } = (await shell.connect()).ops().engines
      const price = expectData(await prices.get()).prices.find(({ mode }) => mode === 'fast')
      if (!price) return used || undefined
      const { sample, sample_cents, set_by } = price
      const from =
        set_by === 'built in' ? "svc's own price" : `the price of ${set_by === 'here' ? 'engines set-prices' : set_by}`
      const cost = `No price is set for ${name}, so a call costs ${from}: ${sample_cents}¢ for ${sample} (mode fast).`
      const set = `Set one: svc-admin engines update ${name} --price-prompt N --price-completion N.`
      return `${used && `${used}\n`}${cost} ${set} See all: svc-admin engines prices`
    },
  }),
  command`update: Change the settings of an upstream
  Settings that you do not name stay the same. The new settings are tested first, and nothing is saved if a test fails. A new key comes from --from-file, never from a flag. engines map chooses which models answer. An upstream of svc.server.json or the environment must be changed there. --copy copies it to the database, and from then on the copy is used.
  $ engines update main --call-timeout 60s --concurrency 8
  $ engines update main --from-file key.txt --no-test`({
    ...writing,
    flags: {
      baseUrl: text('URL', 'its address'),
      fromFile: text('FILE', 'a file that contains its new key; - reads stdin'),
      noTest: flag('save without testing'),
      copy: flag('copy an upstream of svc.server.json or the environment to the database'),
      ...SETTING_FLAGS,
    },
    action({ name, baseUrl, fromFile, noTest: _, copy, ...given }) {
      if (baseUrl || fromFile || copy || settingsOf(given)) return `change the upstream ${name}`
      const fix = `svc-admin engines update ${name} --call-timeout 60s`
      throw usageFailure('engines update needs a setting to change.', fix)
    },
    async answer({ ops, shell }, { name, baseUrl, fromFile, noTest, copy, ...given }) {
      const input = { label: 'API key', fromFile, instead: '--from-file FILE' }
      const api_key = fromFile ? await readSecretInput(shell, input) : undefined
      const same = { test: !noTest, copy: copy || undefined, base_url: baseUrl || undefined }
      const patch = defined({ ...same, api_key, settings: settingsOf(given) })
      return tested(shell, expectData(await ops.engines({ name }).patch(patch)))
    },
    note: noteInUse,
  }),
  command`remove NAME (moderate): Disconnect an upstream
  Deletes the upstream, its targets and its key from the database. Running calls continue. If a mode would have no engine left, it needs --force. An upstream that you copied with --copy is used again from svc.server.json or the environment.
  $ engines remove main --yes
  $ engines remove main --force --yes`({
    columns: columnsOf`name NAME, removed_from REMOVED FROM`,
    flags: { force: flag('remove it even if engines would have no target left') },
    action: ({ name }) => `disconnect the upstream ${name}`,
    request: ({ ops }, { name, force }) => ops.engines({ name }).delete({}, { query: force ? { force: 'true' } : {} }),
    note: noteInUse,
  }),
  command`map: Choose which models answer a mode, best first
  A target is upstream:model. When one fails, the next one takes over. MODE is a mode of GET /models, an engine id, or "*" for every text mode without its own targets. --to none removes the mode's own targets. Then those of svc.server.json, the environment and "*" apply.
  $ engines map think --to big:large,main:small
  $ engines map think --to none`({
    columns: columnsOf`id ENGINE, targets TARGETS list, saved_to SAVED TO`,
    args: { mode: argument('a mode, an engine id or "*"') },
    flags: { to: needed(list('up:model,…', 'its targets, best first, or none'), 'add --to main:small') },
    action: ({ mode, to }) => `let ${targetsOf(to).join(', ') || 'the targets of all text modes'} answer ${mode}`,
    request: ({ ops }, { mode, to }) => ops.engines.map({ mode }).put({ targets: targetsOf(to) }),
    note: noteInUse,
  }),
  command`test (exits 3 9, shows tests): Test the engines with real calls
  Asks every target, or those of one upstream, for an answer, a stream and JSON. Exits 9 when one fails. The upstream may charge a few tokens for each call.
  $ engines test
  $ engines test main --json
  $ engines test --mode think`({
    columns: testColumns,
    args: { upstream: optional('the upstream to test; all by default') },
    flags: { mode: text('MODE', 'only targets that answer this mode') },
    request: ({ ops }, { upstream, mode }) =>
      ops.engines.test.post({}, { query: defined({ upstream: upstream || undefined, mode: mode || undefined }) }),
    empty: 'No upstream is connected.',
    ok: ({ tests }) => tests.every(({ ok }) => ok),
  }),
  command`health: Show how an upstream answered lately, bucket by bucket
  Calls, errors and latencies as the process that is asked saw them since it started. Buckets without calls are left out. The last error is printed below.
  $ engines health main
  $ engines health main --window 7d --json`({
    columns: columnsOf`
      at FROM time, calls CALLS number, errors ERRORS number, p50 P50 MS number, p95 P95 MS number`,
    args: { upstream: argument('name of the upstream') },
    flags: { window: choice(['1h', '24h', '7d'], 'how far back; 24h by default') },
    request: ({ ops }, { upstream, window = '24h' }) =>
      ops.engines({ name: upstream }).health.get({ query: { window } }),
    shown: ({ buckets, calls, errors, p50, p95 }) =>
      buckets.flatMap((at, index) =>
        calls[index]!
          ? [{ at, calls: calls[index], errors: errors[index], p50: p50[index] ?? null, p95: p95[index] ?? null }]
          : [],
      ),
    empty: 'No calls.',
    note: ({ last_error }) => (last_error ? `Last error, ${last_error.at}: ${last_error.message}` : undefined),
  }),
  command`enable: Enable an upstream
  It is tested with real calls first. If one fails, it stays disabled.
  $ engines enable main
  $ engines enable main --no-test`({
    ...writing,
    flags: { noTest: flag('enable it without testing') },
    action: ({ name }) => `enable the upstream ${name}`,
    answer: async ({ ops, shell }, { name, noTest }) =>
      tested(shell, expectData(await ops.engines({ name }).patch({ settings: { off: null }, test: !noTest }))),
    note: async (_, { name }, shell) => undoOf(shell, 'disable', name),
  }),
  command`disable: Disable an upstream and keep its settings
  Its settings, targets and key stay stored, but no new call goes to it. Running calls continue. The next target of each mode answers, or the built-in engine if it is on.
  $ engines disable main
  $ engines disable main --dry-run --json`({
    ...writing,
    action: ({ name }) => `disable the upstream ${name}`,
    request: ({ ops }, { name }) => ops.engines({ name }).patch({ settings: { off: true }, test: false }),
    note: async (_, { name }, shell) => undoOf(shell, 'enable', name),
  }),
  ...namedEngineCommands,
]

const undoOf = async (shell: Shell, verb: string, name: string) =>
  [`undo: svc-admin engines ${verb} ${name}`, (await inUse(shell)) ?? []].flat().join('\n')

const targetsOf = (to: readonly string[]): string[] => (to.length === 1 && to[0] === 'none' ? [] : [...to])

/** The settings that the flags name, if any. `auto` becomes null, which resets a setting. */
function settingsOf({ header, pricePrompt, priceCompletion, ...given }: FlagsGiven<typeof SETTING_FLAGS>) {
  const { callTimeout, silence, jsonOutput, documents, recordings, ...same } = given
  const prices = defined({ promptPer1k: pricePrompt, completionPer1k: priceCompletion })
  const settings = defined({
    ...same,
    timeoutMs: callTimeout,
    silenceMs: silence,
    headers:
      header &&
      Object.fromEntries(
        header.map((word) => {
          const [, name, value] = /^([^:]+):(.*)$/s.exec(word) ?? []
          if (name === undefined) throw usageFailure(`--header is "${clean(word)}"; write NAME:VALUE.`)
          return [name.trim(), value!.trim()]
        }),
      ),
    json: jsonOutput,
    files: documents,
    audio: recordings,
    prices: Object.keys(prices).length ? prices : undefined,
  })
  return Object.keys(settings).length ? settings : undefined
}
