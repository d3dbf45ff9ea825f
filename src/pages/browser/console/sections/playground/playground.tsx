import { Code2, Plus, Save, X } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import type { ModelList } from '../../../../../engines/schema'
import { part, useGet, useOwner } from '../../shell/api'
import { useKeys } from '../../shell/keys'
import { Page } from '../../shell/page'
import { defineTabs } from '../../shell/tabs'
import { handed } from '../../shell/value'
import { Button, Choices, Code } from '../../ui/controls'
import { useFilters } from '../../ui/filters'
import { APIS, type Api, bodyOf, type Common, type Given, modelOf, PLAIN, refusedBy, type Settings } from './apis'
import { type Column, useColumn } from './column'
import { Composer, Pays } from './composer'
import { ExchangeView } from './exchange'
import { Runs } from './runs'
import { openedOf, samplesOf } from './samples'
import { SettingsForm } from './settings'
import { Tests } from './tests'

const MOST = 4
type Language = keyof ReturnType<typeof samplesOf>
const LANGUAGES = { curl: 'curl', TypeScript: 'TypeScript', Python: 'Python' }
const isText = (mode: string) => !['auto', 'image', 'video', 'vision'].includes(mode)
const isApi = (text: string | undefined): text is Api => text !== undefined && Object.hasOwn(APIS, text)
const ALL = 'all'
/** Most of these also work without a language model. */
const PROMPTS = [
  'What is 17 % of 2,340?',
  'What time is it in Lisbon?',
  'Convert 5 miles to kilometres.',
  'Explain tides to a ten-year-old in three sentences.',
] as const

// Loaded lazily, because a prompt can be sent without menus.
const DropDown = lazy(() => part(() => import('../../shell/menus')).then((it) => ({ default: it.DropDown })))

/** Prompts and answers side by side: one to four engines, one composer, and equivalent code. */
function Playground() {
  const owner = useOwner()
  const [, navigate] = useLocation()
  // A request from the log or a test case opens here to be repeated.
  const [opened] = useState(() => openedOf(handed.get()))
  const { filters, set } = useFilters({ modes: opened?.mode ?? 'auto' })
  const models = useGet<ModelList>('/models')
  // Requests of chat clients name an engine instead of a mode.
  const modeOf = (name: string) => models.data?.models.find(({ model_id }) => model_id === name)?.mode ?? name
  const modes = filters.modes!.split(',').slice(0, MOST).map(modeOf)
  // The address contains only settings that no person typed, so that a link opens the same state.
  const [common, setCommon] = useState<Common>(() => ({
    ...PLAIN,
    ...(isApi(filters.api) ? { api: filters.api } : {}),
    temperature: filters.temperature ?? '',
    skills: filters.skills ?? '',
    ...opened?.common,
  }))
  const [own, setOwn] = useState<Record<string, Partial<Common>>>({})
  const [shown, setShown] = useState(ALL)
  const [target, setTarget] = useState(ALL)
  const [key, setKey] = useState('')
  const [text, setText] = useState(opened?.prompt ?? '')
  const [files, setFiles] = useState<readonly Given[]>([])
  const [isCode, setCode] = useState(() => innerWidth >= 1100)
  const [sample, setSample] = useState<Language>('curl')
  const columns = useRef<(Column | null)[]>([])
  // A column keeps its conversation when an earlier one is removed, so it needs an id besides its index.
  const ids = useRef<string[]>([])
  ids.current = modes.map((_, n) => ids.current[n] ?? crypto.randomUUID())
  const [, redraw] = useState(0)
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    handed.set(null)
    field.current?.focus()
  }, [])
  const toColumn = (n: number) => ({
    keys: `Alt+${n}`,
    label: `Write to column ${n}`,
    run: () => {
      setTarget(ids.current[n - 1] ?? ALL)
      field.current?.focus()
    },
  })
  useKeys([{ keys: 'e', label: 'Write a prompt', run: () => field.current?.focus() }, ...[1, 2, 3, 4].map(toColumn)])

  const choose = (next: readonly string[]) => set({ modes: next.join(',') })
  const remove = (n: number) => {
    columns.current[n]?.stop()
    columns.current.splice(n, 1)
    const [gone] = ids.current.splice(n, 1)
    if (shown === gone) setShown(ALL)
    if (target === gone) setTarget(ALL)
    choose(modes.toSpliced(n, 1))
  }
  /** Adds a column with a mode that no other has. With three columns there is no room for the code. */
  const compare = () => {
    choose([...modes, models.data?.models.find(({ mode }) => isText(mode) && !modes.includes(mode))?.mode ?? 'fast'])
    if (modes.length >= 2 && innerWidth < 1_600) setCode(false)
    field.current?.focus()
  }
  const settingsOf = (n: number): Settings => ({
    ...common,
    ...own[ids.current[n]!],
    mode: modes[n]!,
    model: modelOf(modes[n]!, models.data),
  })
  const wantedBy = (to: string) => modes.map((_, n) => n).filter((n) => to === ALL || ids.current[n] === to)
  const refusal = wantedBy(target)
    .map((n) => refusedBy(settingsOf(n), files))
    .find((reason) => reason !== null)
  const isRunning = columns.current.some((column) => column?.isRunning)
  const send = (prompt: string, to: string) => {
    if ((!prompt.trim() && !files.length) || wantedBy(to).some((n) => refusedBy(settingsOf(n), files))) return
    for (const n of wantedBy(to)) columns.current[n]?.send({ role: 'user', text: prompt.trim(), files })
    setText('')
    setFiles([])
  }
  const stop = () => {
    for (const column of columns.current) column?.stop()
  }
  const clear = () => {
    for (const column of columns.current) column?.clear()
  }
  const at = Math.max(0, ids.current.indexOf(shown))
  const column = columns.current[at]
  const isWritten = text !== '' || files.length > 0
  const last = column?.exchanges.at(-1)
  // Until something is typed, the code shows the last prompt.
  const turns =
    isWritten || !last
      ? [...(column?.turns ?? []), { role: 'user' as const, text: text || PROMPTS[0], files }]
      : [...column!.before(last.id), last.sent]
  const settings = settingsOf(at)
  const isEmpty = !columns.current.some((it) => it?.exchanges.length)
  const change = (changes: Partial<Common>) => {
    if (shown !== ALL) return setOwn({ ...own, [shown]: { ...own[shown], ...changes } })
    setCommon({ ...common, ...changes })
    const { api, temperature, skills } = { ...common, ...changes }
    set({ api: api === PLAIN.api ? '' : api, temperature, skills }, { typed: true })
  }
  const numbered = modes.map((_, n) => ({ value: ids.current[n]!, label: String(n + 1) }))

  return (
    <Page
      title="Playground"
      isFull
      actions={
        <>
          {!isEmpty && <Button onClick={clear}>New conversation</Button>}
          <Suspense fallback={null}>
            <DropDown
              label="Save or share"
              className="button quiet"
              button={
                <>
                  <Save size={16} aria-hidden="true" />
                  Save
                </>
              }
              items={[
                {
                  id: 'case',
                  text: 'Make a test case',
                  hint: 'the request, and what its answer must be',
                  run: () => {
                    const { stream: _, stream_options: __, ...request } = last?.body ?? bodyOf(settings, turns)
                    handed.set(request)
                    navigate(`/${owner.slug}/playground/new?tab=tests`)
                  },
                },
                {
                  id: 'skill',
                  text: 'Make a skill',
                  hint: 'of the system prompt',
                  run: () => {
                    handed.set({ system_prompt_ext: settings.system })
                    navigate(`/${owner.slug}/skills/new?tab=mine`)
                  },
                },
                {
                  id: 'link',
                  text: 'Copy a link',
                  hint: 'with engines and settings, without any text',
                  run: () => void navigator.clipboard?.writeText(location.href),
                },
              ]}
            />
          </Suspense>
          <Button disabled={modes.length >= MOST} onClick={compare} icon={Plus}>
            Compare
          </Button>
          <Button aria-pressed={isCode} onClick={() => setCode(!isCode)} icon={Code2}>
            Settings and code
          </Button>
        </>
      }
    >
      <div className={isCode ? 'playground with-code' : 'playground'}>
        <div className="talk">
          <div className="talk-columns">
            {modes.map((_, n) => (
              <ColumnView
                key={ids.current[n]}
                settings={settingsOf(n)}
                actingKey={key}
                models={models.data}
                number={n + 1}
                keep={(it) => {
                  columns.current[n] = it
                }}
                changed={() => redraw((now) => now + 1)}
                onMode={(next) => choose(modes.with(n, next))}
                {...(modes.length > 1 ? { onRemove: () => remove(n) } : {})}
                onPrompt={(prompt) => send(prompt, isEmpty ? ALL : ids.current[n]!)}
                suggests={isEmpty && n === 0}
              />
            ))}
          </div>
          <Composer
            {...{ field, text, files, isRunning, refusal: refusal ?? null }}
            onText={setText}
            onFiles={setFiles}
            onSend={(to) => send(text, to === 'all' ? ALL : target)}
            onStop={stop}
          >
            {modes.length > 1 && (
              <Choices
                label="Sends to"
                value={target}
                choices={[{ value: ALL, label: 'All' }, ...numbered]}
                onChange={setTarget}
              />
            )}
            <Pays chosen={key} onChoose={setKey} />
          </Composer>
        </div>
        {isCode && (
          <aside className="beside-talk" aria-label="Settings and code">
            <section className="card form">
              <h2>Settings</h2>
              {modes.length > 1 && (
                <Choices
                  label="Settings of"
                  value={shown}
                  choices={[
                    { value: ALL, label: 'All columns' },
                    ...numbered.map(({ value, label }) => ({ value, label: `Column ${label}` })),
                  ]}
                  onChange={setShown}
                />
              )}
              <SettingsForm
                key={shown}
                value={shown === ALL ? common : settings}
                onChange={change}
                refusal={refusedBy(settings, [])}
              />
            </section>
            <section className="card form">
              <h2>The same as code</h2>
              <Choices label="Language" value={sample} choices={LANGUAGES} onChange={setSample} />
              <Code text={samplesOf(settings.api, bodyOf(settings, turns))[sample]} label={`${sample} code`} />
            </section>
          </aside>
        )}
      </div>
    </Page>
  )
}

type ColumnProps = {
  settings: Settings
  actingKey: string
  models: ModelList | undefined
  number: number
  keep(column: Column | null): void
  changed(): void
  onMode(mode: string): void
  onRemove?(): void
  onPrompt(prompt: string): void
  /** True if example prompts are shown. */
  suggests: boolean
}

function ColumnView(props: ColumnProps) {
  const { settings, actingKey, models, number, keep, changed, onMode, onRemove, onPrompt, suggests } = props
  const column = useColumn(settings, actingKey)
  keep(column)
  const log = useRef<HTMLDivElement>(null)
  const { exchanges } = column
  const size = exchanges.length + (exchanges.at(-1)?.text.length ?? 0)
  const state = exchanges.at(-1)?.state
  // biome-ignore lint/correctness/useExhaustiveDependencies: the parent shows whether one runs
  useEffect(changed, [exchanges.length, state])
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each piece of text
  useEffect(() => {
    const box = log.current
    if (box && box.scrollHeight - box.scrollTop - box.clientHeight < 200) box.scrollTop = box.scrollHeight
  }, [size])
  const listed = models?.models ?? []
  return (
    <section className="card talk-column" aria-label={`Column ${number}`}>
      <header>
        <select
          aria-label={`Mode of column ${number}`}
          value={settings.mode}
          onChange={({ target }) => onMode(target.value)}
        >
          <option value="auto">auto: chosen for each prompt</option>
          {listed
            .filter(({ mode }) => mode !== 'auto')
            .map(({ mode, model_id, status }) => (
              <option key={mode} value={mode} disabled={status === 'down'}>
                {mode}: {model_id}
                {status !== 'available' && ` (${status})`}
              </option>
            ))}
        </select>
        {onRemove && <Button kind="plain" aria-label={`Remove column ${number}`} onClick={onRemove} icon={X} />}
      </header>
      <div className="log" role="log" aria-label={`Answers of column ${number}`} ref={log} tabIndex={0}>
        {exchanges.length === 0 && <p className="faint">Answers appear here, word by word.{suggests && ' Try one:'}</p>}
        {suggests && (
          <ul className="prompts" aria-label="Prompts to try">
            {PROMPTS.map((prompt) => (
              <li key={prompt}>
                <Button onClick={() => onPrompt(prompt)}>{prompt}</Button>
              </li>
            ))}
          </ul>
        )}
        {exchanges.map((exchange, n) => (
          <ExchangeView
            key={exchange.id}
            exchange={exchange}
            isLast={n === exchanges.length - 1}
            column={column}
            onPrompt={onPrompt}
          />
        ))}
      </div>
    </section>
  )
}

export default defineTabs('playground', [
  { id: 'playground', label: 'Playground', screen: Playground },
  { id: 'tests', label: 'Test cases', screen: Tests },
  { id: 'runs', label: 'Runs', screen: Runs },
])
