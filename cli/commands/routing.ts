import { ENGINES, findEngine } from '../../src/engines/schema'
import type * as words from '../../src/routing/schema'
import type { Correction, NewRule, Preview } from '../../src/routing/schema'
import { apiOf, column, columnsOf, commandsOf, defined } from '../command'
import { expectData, usageFailure } from '../failure'
import { readTextFile, readValueFile, testCases } from '../files'
import { formatOf } from '../globals'
import { eachEntry, type PageQuery, pageIn } from '../pages'
import { noteWarnings, resolveKey, resolveRuleSet, resourceOver } from '../resource'
import type { Shell } from '../shell'
import { argument, duration, flag, optional, text, whole } from '../words'
import { countedColumn, defaultVerbs, fileCommands, KEYS_STAY, ruleSetColumns } from './resource-commands'

const preferenceColumns = ruleSetColumns(
  countedColumn('examples', 'EXAMPLES'),
  column('confidence_floor_overrides', 'FLOORS', { wide: true }),
)
const PREFERENCE_ID = '0b6d4a52-6f0f-4c43-9a30-7d3c7f1f4e21'

const chosen = columnsOf`
  resolved_mode MODE, engine ENGINE, source DECIDED BY, matched MATCHED, confidence CONFIDENCE number,
  floor FLOOR number, reasoning WHY`
const stageColumns = columnsOf`
  stage STAGE, mode MODE, confidence CONFIDENCE number, floor FLOOR number, matched MATCHED, ms MS number`
const caseColumns = columnsOf`
  line LINE number, ok OK flag, expected_mode EXPECTED, resolved_mode GOT, expected_engine ON, engine ENGINE,
  source DECIDED BY, confidence CONFIDENCE number, prompt PROMPT`

const under = {
  pref: text('ID', "use this preference, by id or name, instead of the key's own"),
  key: text('KEY', 'decide as for this key'),
  rules: text('FILE', 'use these rules: a list as JSON, JSONC or YAML'),
  engine: flag('also ask the engine classifier, as a real request would; over --url only'),
}
type Under = { [Name in 'pref' | 'key' | 'rules']: string | undefined } & { engine: boolean | undefined }
const ABOUT_PREVIEW =
  "Decides as for the key in use. On the server's machine it uses no preference, unless --org, --key or --pref choose one. Nothing is billed or stored, and without --engine nothing is sent to an engine."

const command = commandsOf('routing', { apis: ['tenant', 'operator'] })

function printFound(shell: Shell, found: Preview): void {
  const { source, stages } = found
  const requests = stages.filter(({ stage }) => stage !== 'default')
  // The stage that decided. If none did, the last guess, with the floor that it did not reach.
  const decided = stages.find(({ stage }) => stage === source && source !== 'default') ?? requests.at(-1)
  const matched = source === 'default' ? null : (decided?.matched ?? null)
  shell.print.item({ ...found, floor: decided?.floor ?? null, matched }, chosen)
  // Tables list the stages. JSON and `--fields` print the whole answer with the stages as a member.
  if (['table', 'wide'].includes(formatOf(shell.globals)) && shell.globals.fields === undefined)
    shell.print.list(found.stages, stageColumns, 'No stages.')
}

async function previewer(shell: Shell, { pref, key, rules, engine }: Under) {
  const tried = rules === undefined ? undefined : ((await readValueFile(shell, rules)) as NewRule[])
  const { api, ownerFilter, isOperator } = await apiOf(shell)
  if (engine && isOperator) {
    throw usageFailure('--engine calls an engine, which needs an API key: add --url and --key-file.')
  }
  const preferences = await resourceOver(shell, 'routing-preferences')
  const shared = defined({
    routing_preference_id: pref ? await resolveRuleSet(preferences, pref, 'routing preference') : undefined,
    key_id: key ? await resolveKey(api, key) : undefined,
    rules: tried || undefined,
    engine: engine || undefined,
  })
  return async (prompt: string) =>
    expectData(await api['routing-preferences'].preview.post({ prompt, ...shared }, { query: ownerFilter }))
}

/** Repeated here, because importing them from the module would load the schema compiler even for `--help`. */
const THRESHOLD = 3 satisfies typeof words.THRESHOLD
const WINDOW_DAYS = 30 satisfies typeof words.WINDOW_DAYS

const suggested = columnsOf`
  suggested_rule.pattern PATTERN, suggested_rule.target_mode MODE, confidence CONFIDENCE number,
  suggested_rule.description WHY, source_correction_ids FROM list`

const clusterColumns = columnsOf`
  mode MODE, corrections CORRECTIONS number, threshold THRESHOLD number, ready READY flag, newest NEWEST time,
  correction_ids IDS list wide`

const correctionColumns = columnsOf`
  id, expected_mode EXPECTED, resolved_mode GOT, prompt PROMPT, completion_id COMPLETION wide, note NOTE wide,
  created WHEN time`

/** Routing preferences (docs/operating.md 2.10). Also available as `policies routing`. */
export const routingCommands = [
  ...fileCommands({
    path: 'routing-preferences',
    resource: 'routing',
    what: 'routing preference',
    many: 'routing preferences',
    columns: preferenceColumns,
    id: PREFERENCE_ID,
    file: 'preference.yaml',
    arg: 'policy',
    stays: KEYS_STAY,
    bound: { flag: '--routing', holds: (key, id) => key.routing_preference_id === id },
  }),
  ...defaultVerbs('routing', PREFERENCE_ID),
  command`preview (exits 3 6): Show which mode and engine a prompt would get, and why
  Shows each stage with its minimum confidence. ${ABOUT_PREVIEW}
  $ routing preview "Draft a contract"
  $ routing preview "Draft a contract" --pref ${PREFERENCE_ID} --json`({
    columns: chosen,
    args: { prompt: optional('the prompt') },
    flags: { file: { ...text('FILE', 'a file that contains the prompt; - reads stdin'), short: 'f' }, ...under },
    async run(shell, { prompt, file, ...rest }) {
      const content = prompt ?? (file === undefined ? undefined : await readTextFile(shell, file))
      if (content === undefined)
        throw usageFailure('routing preview needs a PROMPT.', 'svc-admin routing preview "Hello"')
      printFound(shell, await (await previewer(shell, rest))(content))
    },
  }),
  command`replay (shows changed): Try rules on stored prompts, and show which modes would change
  Tries corrections, examples and conversations, newest first, for at most 2 s. On the server's machine --org chooses whose. Nothing is billed or stored, and nothing is sent to an engine.
  $ routing replay --rules rules.json
  $ routing replay --pref ${PREFERENCE_ID} --mode fast --json`({
    columns: columnsOf`
      before NOW, after THEN, rule RULE number, source.type FROM, excerpt PROMPT, source.id ID wide`,
    flags: {
      pref: under.pref,
      rules: under.rules,
      mode: text('MODE', 'only prompts that get this mode now'),
      limit: whole('N', 'prompts to try; 200 by default', { min: 1, max: 500 }),
      since: duration('TIME', 'only prompts at most this old'),
    },
    async request({ api, ownerFilter, shell }, { pref, rules, since, mode, limit }) {
      const preferences = await resourceOver(shell, 'routing-preferences')
      const input = defined({
        mode,
        limit,
        from: since === undefined ? undefined : new Date(shell.clock.now() - since).toISOString(),
        routing_preference_id: pref ? await resolveRuleSet(preferences, pref, 'routing preference') : undefined,
        rules: rules === undefined ? undefined : ((await readValueFile(shell, rules)) as NewRule[]),
      })
      return api['routing-preferences'].replay.post(input, { query: ownerFilter })
    },
    empty: 'No mode would change.',
    note: ({ changed, tested, timed_out }) =>
      `${changed.length} of ${tested} prompts would change.${timed_out ? ' The time was too short for the rest.' : ''}`,
  }),
  command`test (exits 3 6 9): Test a prompt, or a file of prompts with their expected modes
  With --prompt it shows the mode, the engine, what decided, and the floor. With -f each line is one JSON object: {"prompt":"…","expected_mode":"…"}, and "expected_engine" where it matters. Every miss is printed, and one is enough to exit 9. ${ABOUT_PREVIEW}
  $ routing test --prompt "Draft a contract" --key ci
  $ routing test -f cases.jsonl
  $ routing test -f cases.jsonl --pref ${PREFERENCE_ID} --every --json`({
    columns: [...chosen, ...caseColumns.filter(({ field }) => !chosen.some((one) => one.field === field))],
    flags: {
      prompt: text('TEXT', 'one prompt; @FILE reads it from a file'),
      file: { ...text('FILE', 'the cases, one JSON object per line; - reads stdin'), short: 'f' },
      every: flag('with -f: also print the cases that pass'),
      ...under,
    },
    async run(shell, { prompt, file, every, ...rest }) {
      if ((prompt === undefined) === (file === undefined)) {
        const message = prompt === undefined ? 'needs --prompt TEXT or -f FILE' : 'takes --prompt or -f, not both'
        throw usageFailure(`routing test ${message}.`, 'svc-admin routing test -f cases.jsonl')
      }
      if (file !== undefined) {
        const preview = await previewer(shell, rest)
        return testCases(shell, {
          file,
          every,
          read({ prompt, expected_mode, expected_engine = null }, line) {
            const isEngine = expected_engine === null || typeof expected_engine === 'string'
            if (typeof prompt !== 'string' || typeof expected_mode !== 'string' || !isEngine)
              throw usageFailure(`Line ${line} of ${file} is not {"prompt":"…","expected_mode":"…"}.`)
            const expects = `Line ${line} of ${file} expects the`
            if (!MODES.includes(expected_mode))
              throw usageFailure(`${expects} mode "${expected_mode}". Use ${MODES.join(', ')}.`)
            if (expected_engine !== null && !findEngine(expected_engine))
              throw usageFailure(
                `${expects} engine "${expected_engine}", which does not exist.`,
                'svc-admin engines list',
              )
            return { line, prompt, expected_mode, expected_engine }
          },
          async judge({ line, prompt, expected_mode, expected_engine }) {
            const { resolved_mode, engine, source, confidence } = await preview(prompt)
            const ok = resolved_mode === expected_mode && (expected_engine === null || engine === expected_engine)
            return { line, ok, expected_mode, expected_engine, resolved_mode, engine, source, confidence, prompt }
          },
          columns: caseColumns,
          what: 'case',
        })
      }
      const content = prompt!.startsWith('@') ? await readTextFile(shell, prompt!.slice(1)) : prompt!
      printFound(shell, await (await previewer(shell, rest))(content))
    },
  }),
  command`suggest (exits 3): Suggest a rule for a mode from recent corrections
  Needs at least three corrections of the last 30 days. --apply adds the rule to the end of a preference. On the server's machine --org chooses whose corrections are used.
  $ routing suggest data_extraction
  $ routing suggest code --apply ${PREFERENCE_ID} --json`({
    columns: suggested,
    args: { mode: argument('the mode that needs a rule') },
    flags: { apply: text('PREF', 'add the rule to this preference') },
    async find(shell, { mode, apply }) {
      const { api, ownerFilter } = await apiOf(shell)
      const input = { expected_mode: mode }
      const found = expectData(await api['routing-preferences']['suggest-rule'].post(input, { query: ownerFilter }))
      const all = await resourceOver(shell, 'routing-preferences')
      return { found, all, to: apply && (await all.get(await resolveRuleSet(all, apply, 'routing preference'))) }
    },
    action: ({ found, to }) =>
      to ? `add ${found.suggested_rule.pattern} to routing preference ${to.name}` : undefined,
    async run(shell, { found, all, to }) {
      const made = to ? await all.update(to.id, { rules: [...to.rules, found.suggested_rule] }) : found
      shell.print.item(made, to ? preferenceColumns : suggested)
      noteWarnings(shell, made)
    },
  }),
  command`corrections (pages items): List the modes that callers corrected
  Counts the corrections of the last 30 days by mode, and shows how many a suggestion needs. With --mode it lists all corrections of that mode, newest first.
  $ routing corrections
  $ routing corrections --mode code --all --json`({
    columns: [...clusterColumns, ...correctionColumns],
    flags: {
      mode: text('MODE', 'corrections that expected this mode'),
      limit: whole('N', 'with --mode: how many at most; 50 by default', { min: 1, max: 100 }),
      cursor: text('CURSOR', 'with --mode: continue where an earlier list ended'),
      all: flag('with --mode: every page'),
    },
    async answer({ shell, page }, { mode }): Promise<object> {
      if (mode === undefined) return clustersOf(shell)
      return { ...(await correctionsOf(shell, { ...page, expected_mode: mode })), columns: correctionColumns }
    },
    empty: 'No corrections.',
  }),
]

/** The corrections that `suggest` would use (docs/operating.md 2.10). */
async function clustersOf(shell: Shell) {
  const since = shell.clock.now() - WINDOW_DAYS * 86_400_000
  const recent: Correction[] = []
  for await (const one of eachEntry((page) => correctionsOf(shell, page))) {
    // They come newest first.
    if (Date.parse(one.created) < since) break
    recent.push(one)
  }
  const clusters = [...new Set(recent.map(({ expected_mode }) => expected_mode))].sort().map((mode) => {
    const own = recent.filter(({ expected_mode }) => expected_mode === mode)
    const ready = own.length >= THRESHOLD
    const ids = own.map(({ id }) => id)
    const newest = own[0]!.created
    return { mode, corrections: own.length, threshold: THRESHOLD, ready, newest, correction_ids: ids }
  })
  const empty = `No corrections in the last ${WINDOW_DAYS} days.`
  return { items: clusters, next: null, columns: clusterColumns, empty }
}

async function correctionsOf(shell: Shell, query: PageQuery & { expected_mode?: string }) {
  const { api, ownerFilter } = await apiOf(shell)
  return pageIn(api['routing-corrections'].get({ query: { ...query, ...ownerFilter } }), 'routing_corrections')
}

/** The modes that a prompt can be routed to. */
const MODES = ENGINES.map(({ mode }) => mode).filter((mode) => mode !== 'auto')
