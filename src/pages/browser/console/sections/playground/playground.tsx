import { Code2, Plus, Send, Square, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import type { ModelList } from '../../../../../engines/schema'
import type { UsageReport } from '../../../../../usage/schema'
import { useGet, useOwner } from '../../shell/api'
import { useKeys } from '../../shell/keys'
import { Page } from '../../shell/page'
import { defineTabs } from '../../shell/tabs'
import { handed } from '../../shell/value'
import { Button, Choices, Code, Field } from '../../ui/controls'
import { useFilters } from '../../ui/filters'
import { money } from '../../ui/format'
import { type Column, useColumn } from './column'
import { ExchangeView } from './exchange'
import { Runs } from './runs'
import { bodyOf, openedOf, type Settings, samplesOf } from './samples'
import { Tests } from './tests'

const MOST = 4
type Language = keyof ReturnType<typeof samplesOf>
const LANGUAGES = (['curl', 'TypeScript', 'Python'] as const).map((value: Language) => ({ value, label: value }))
const isText = (mode: string) => !['auto', 'image', 'video', 'vision'].includes(mode)
const PROMPTS = [
  'Explain tides to a ten-year-old in three sentences.',
  'Write a haiku about a lighthouse.',
  'Plan a weekend in Lisbon for two.',
  'What is 17 % of 2,340? Show the steps.',
] as const

/** Prompts and answers beside one another: one to four engines, one composer, and the code that does the same. */
function Playground() {
  const owner = useOwner()
  const [, navigate] = useLocation()
  // What the log or a test case hands over is asked again here.
  const [opened] = useState(() => openedOf(handed.get()))
  const { filters, set } = useFilters({ modes: opened?.mode ?? 'auto' })
  const modes = filters.modes!.split(',').slice(0, MOST)
  const models = useGet<ModelList>('/models')
  const [common, setCommon] = useState(opened?.common ?? { system: '', temperature: '', skills: '' })
  const [text, setText] = useState(opened?.prompt ?? '')
  const [isCode, setCode] = useState(() => innerWidth >= 1100)
  const [sample, setSample] = useState<Language>('curl')
  const columns = useRef<(Column | null)[]>([])
  // A column keeps its conversation when one before it is removed, so it is not known by its place.
  const ids = useRef<string[]>([])
  ids.current = modes.map((_, n) => ids.current[n] ?? crypto.randomUUID())
  const [, redraw] = useState(0)
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    handed.set(null)
    field.current?.focus()
  }, [])
  useKeys([{ keys: 'e', label: 'Write a prompt', run: () => field.current?.focus() }])

  const choose = (next: readonly string[]) => set({ modes: next.join(',') })
  const remove = (n: number) => {
    columns.current[n]?.stop()
    columns.current.splice(n, 1)
    ids.current.splice(n, 1)
    choose(modes.toSpliced(n, 1))
  }
  /** One more column, with a mode that no other has; beside three there is no room for the code. */
  const compare = () => {
    choose([...modes, models.data?.models.find(({ mode }) => isText(mode) && !modes.includes(mode))?.mode ?? 'fast'])
    if (modes.length >= 2 && innerWidth < 1_600) setCode(false)
    field.current?.focus()
  }
  const isRunning = columns.current.some((column) => column?.isRunning)
  const send = (prompt: string) => {
    if (!prompt.trim()) return
    for (const column of columns.current.slice(0, modes.length)) column?.send(prompt.trim())
    setText('')
  }
  const stop = () => {
    for (const column of columns.current) column?.stop()
  }
  const first = columns.current[0]
  const body = bodyOf({ ...common, mode: modes[0]! }, first?.turns ?? [], text || lastPrompt(first) || PROMPTS[0])
  const isEmpty = !columns.current.some((column) => column?.exchanges.length)

  return (
    <Page
      title="Playground"
      isFull
      actions={
        <>
          {!isEmpty && (
            <>
              <Button
                onClick={() => {
                  const { stream: _, ...request } = first!.exchanges.at(-1)!.body
                  handed.set(request)
                  navigate(`/${owner.slug}/playground/new?tab=tests`)
                }}
              >
                Make a test case
              </Button>
              <Button
                onClick={() => {
                  for (const column of columns.current) column?.clear()
                }}
              >
                New conversation
              </Button>
            </>
          )}
          <Button disabled={modes.length >= MOST} onClick={compare}>
            <Plus size={16} aria-hidden="true" />
            Compare
          </Button>
          <Button aria-pressed={isCode} onClick={() => setCode(!isCode)}>
            <Code2 size={16} aria-hidden="true" />
            Code
          </Button>
        </>
      }
    >
      <div className={isCode ? 'playground with-code' : 'playground'}>
        <div className="talk">
          <div className="talk-columns">
            {modes.map((mode, n) => (
              <ColumnView
                key={ids.current[n]}
                settings={{ ...common, mode }}
                models={models.data}
                number={n + 1}
                keep={(column) => {
                  columns.current[n] = column
                }}
                changed={() => redraw((now) => now + 1)}
                onMode={(next) => choose(modes.with(n, next))}
                {...(modes.length > 1 ? { onRemove: () => remove(n) } : {})}
                onPrompt={send}
                suggests={isEmpty && n === 0}
              />
            ))}
          </div>
          <form
            className="composer"
            onSubmit={(event) => {
              event.preventDefault()
              send(text)
            }}
          >
            <textarea
              ref={field}
              aria-label="Prompt"
              placeholder="Write a prompt. Enter sends it, Shift Enter begins a line."
              rows={Math.min(8, Math.max(2, text.split('\n').length))}
              value={text}
              onChange={({ target }) => setText(target.value)}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
                  event.preventDefault()
                  send(text)
                } else if (event.key === 'Escape' && isRunning) stop()
              }}
            />
            <div className="composer-foot">
              <Pays />
              {isRunning ? (
                <Button onClick={stop}>
                  <Square size={14} aria-hidden="true" />
                  Stop
                </Button>
              ) : (
                <Button type="submit" kind="primary">
                  <Send size={16} aria-hidden="true" />
                  Send
                </Button>
              )}
            </div>
          </form>
        </div>
        {isCode && (
          <aside className="beside-talk" aria-label="Settings and code">
            <section className="card form">
              <h2>Settings</h2>
              <Field label="System prompt">
                {(props) => (
                  <textarea
                    {...props}
                    rows={3}
                    placeholder="You are a patient teacher."
                    value={common.system}
                    onChange={({ target }) => setCommon({ ...common, system: target.value })}
                  />
                )}
              </Field>
              <div className="pair">
                <Field label="Temperature" help="0 to 2; empty: as the engine.">
                  {(props) => (
                    <input
                      {...props}
                      type="number"
                      min="0"
                      max="2"
                      step="0.1"
                      value={common.temperature}
                      onChange={({ target }) => setCommon({ ...common, temperature: target.value })}
                    />
                  )}
                </Field>
                <Field label="Skills" help="Their slugs, with blanks in between.">
                  {(props) => (
                    <input
                      {...props}
                      value={common.skills}
                      onChange={({ target }) => setCommon({ ...common, skills: target.value })}
                    />
                  )}
                </Field>
              </div>
            </section>
            <section className="card form">
              <h2>The same as code</h2>
              <Choices
                label="Language"
                value={sample}
                choices={LANGUAGES}
                onChange={(next: Language) => setSample(next)}
              />
              <Code text={samplesOf(body)[sample]} label={`${sample} code`} />
            </section>
          </aside>
        )}
      </div>
    </Page>
  )
}

const lastPrompt = (column: Column | null | undefined) => column?.exchanges.at(-1)?.body.prompt

/** Who pays for the next call, and what is left: what a session calls is paid by its person. */
function Pays() {
  const usage = useGet<UsageReport>('/usage', { scope: 'user' }, { everyMs: 60_000 })
  const left = usage.data?.balance.balance_cents
  return (
    <small>
      Pays your personal account. Limit: your session, 120 calls a minute.
      {left !== undefined && ` Credit left: ${money(left)}.`}
    </small>
  )
}

type ColumnProps = {
  settings: Settings
  models: ModelList | undefined
  number: number
  keep(column: Column | null): void
  changed(): void
  onMode(mode: string): void
  onRemove?(): void
  onPrompt(prompt: string): void
  /** Whether prompts to try are shown. */
  suggests: boolean
}

function ColumnView(props: ColumnProps) {
  const { settings, models, number, keep, changed, onMode, onRemove, onPrompt, suggests } = props
  const column = useColumn(settings)
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
        {onRemove && (
          <Button kind="plain" aria-label={`Remove column ${number}`} onClick={onRemove}>
            <X size={16} aria-hidden="true" />
          </Button>
        )}
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
            onRetry={() => column.retry(exchange.id)}
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
