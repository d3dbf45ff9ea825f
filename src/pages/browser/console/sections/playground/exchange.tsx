import { Pencil, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { useOwner } from '../../shell/api'
import { at } from '../../shell/boot'
import { Button, Chip, Code, CopyButton, jsonOf, laidOut, SendForm, Text } from '../../ui/controls'
import { duration, money, plural, whole } from '../../ui/format'
import { Markdown } from '../../ui/markdown'
import { Failed } from '../../ui/states'
import { type Call, objectOf } from './apis'
import type { Column, Exchange } from './column'

type Props = { exchange: Exchange; isLast: boolean; column: Column; onPrompt(prompt: string): void }

/** A prompt, its answer while it arrives, and its cost and time. */
export function ExchangeView({ exchange, isLast, column, onPrompt }: Props) {
  const { text, thoughts, calls, tools, state, problem, followUps, artifacts, isJson } = exchange
  const retry = () => column.retry(exchange.id)
  const isWaiting = state === 'runs' && !text && !thoughts && calls.length === 0
  return (
    <article className="exchange">
      <SentView exchange={exchange} onRetry={(next) => column.retry(exchange.id, next)} />
      {thoughts && (
        <details className="thoughts">
          <summary>Thoughts</summary>
          <p>{thoughts}</p>
        </details>
      )}
      {tools.map((tool, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a list that only grows
        <div key={`${n}-${tool.name}`} className="tool">
          <Chip state={TOOL_STATES[tool.status]}>{tool.name}</Chip> <small>{tool.description}</small>
        </div>
      ))}
      {isWaiting && <p className="faint">Waiting for the first words…</p>}
      {text && (isJson ? <Structured {...exchange} /> : <Markdown text={text} />)}
      {calls.map((call) => (
        <CallView key={call.id} {...call} />
      ))}
      {isLast && state === 'done' && calls.length > 0 && <Results calls={calls} onSend={column.resolve} />}
      {artifacts.map((artifact, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a list that does not change
        <Artifact key={`${n}-${artifact.type}`} artifact={artifact as never} />
      ))}
      {problem && (
        <>
          <Failed problem={problem} retry={retry} />
          {problem.status === 402 && (
            <p className="faint">Credit is granted by your operator, or topped up under Billing.</p>
          )}
        </>
      )}
      <Took exchange={exchange} onRetry={retry} />
      {isLast && state === 'done' && followUps.length > 0 && (
        <div className="actions">
          {followUps.map(({ label, prompt }) => (
            <Button key={label} onClick={() => onPrompt(prompt)}>
              {label}
            </Button>
          ))}
        </div>
      )}
    </article>
  )
}

const TOOL_STATES = { running: 'run', success: 'good', error: 'bad', awaiting_approval: 'wait' } as const

/** What the reader sent: an editable prompt, or the results of calls. */
function SentView({ exchange: { sent, state }, onRetry }: { exchange: Exchange; onRetry(text: string): void }) {
  const [written, setWritten] = useState<string | null>(null)
  if (sent.role === 'tool')
    return sent.results.map(({ id, name, result }) => (
      <p key={id} className="prompt">
        <small>Your result of {name}</small>
        {'\n'}
        {result}
      </p>
    ))
  if (written !== null)
    return (
      <SendForm
        className="form rewritten"
        onSend={() => {
          setWritten(null)
          onRetry(written)
        }}
      >
        <Text
          label="Changed prompt"
          help="Everything after it is replaced."
          autoFocus
          rows={3}
          value={written}
          onChange={setWritten}
        />
        <div className="actions end">
          <Button onClick={() => setWritten(null)}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={!written.trim()}>
            Run again
          </Button>
        </div>
      </SendForm>
    )
  return (
    <div className="sent">
      <div className="prompt">
        {sent.text}
        {sent.files.map(({ name, type, url }) =>
          type.startsWith('image/') ? <img key={name} src={url} alt={name} /> : <small key={name}>{name}</small>,
        )}
      </div>
      {state !== 'runs' && (
        <Button
          kind="plain"
          aria-label="Change the prompt"
          title="Change the prompt"
          onClick={() => setWritten(sent.text)}
          icon={Pencil}
        />
      )}
    </div>
  )
}

/** An answer in JSON. The server has validated it against the requested format. */
function Structured({ text, state, refusal }: Exchange) {
  const isJson = jsonOf(text) !== undefined
  const problem = refusal || (isJson ? '' : 'It is not JSON.')
  return (
    <>
      <Code text={laidOut(text)} label="answer" />
      {state !== 'runs' && (
        <p>
          <Chip state={problem ? 'bad' : 'good'}>{problem ? 'not as asked' : 'valid'}</Chip> <small>{problem}</small>
        </p>
      )}
    </>
  )
}

function CallView({ name, arguments: given }: Call) {
  return (
    <div className="tool">
      <Chip state="wait">{name}</Chip> <small>is called with</small>
      <Code text={laidOut(given)} label={`arguments of ${name}`} />
    </div>
  )
}

/** Fields for the results of the reader's functions. The answer continues after they are sent. */
function Results({ calls, onSend }: { calls: readonly Call[]; onSend: Column['resolve'] }) {
  const [results, setResults] = useState<readonly string[]>(() => calls.map(() => ''))
  return (
    <SendForm className="form" onSend={() => onSend(calls.map((call, n) => ({ ...call, result: results[n]! })))}>
      {calls.map(({ id, name, arguments: given }, n) => (
        <Text
          key={id}
          label={`Result of ${name}(${Object.keys(objectOf(given)).join(', ')})`}
          rows={2}
          required
          placeholder="What your function returns, as text or JSON"
          value={results[n]}
          onChange={(text) => setResults(results.with(n, text))}
        />
      ))}
      <div className="actions end">
        <Button type="submit" kind="primary">
          Send the result
        </Button>
      </div>
    </SendForm>
  )
}

/** Descriptions of what chose the mode. */
const SOURCES = {
  rule: 'one of your rules',
  heuristic: 'words in the prompt',
  local: 'what the prompt looks like',
  classifier: 'the classifier',
  default: 'your default',
}

/** Which engine answered and why, its duration, and its cost. */
function Took({ exchange, onRetry }: { exchange: Exchange; onRetry(): void }) {
  const { model, mode, routing, requestId, state, firstMs, totalMs } = exchange
  const { text, tokens, cost, isCached, warnings, guardrails } = exchange
  const owner = useOwner()
  if (state === 'runs' || !requestId) return null
  const reason = routing?.reasoning ?? routing?.source
  return (
    <footer className="took">
      {state === 'stopped' && <Chip state="off">stopped</Chip>}
      {isCached && <Chip state="good">cached</Chip>}
      <span title={reason ?? undefined}>
        <Link href={`/${owner.slug}/requests/${requestId}`}>{model}</Link>
        {mode && ` · ${mode}`}
        {routing && routing.source !== 'explicit' && `, chosen by ${SOURCES[routing.source]}`}
      </span>
      {firstMs !== null && <span>first token {duration(firstMs)}</span>}
      {totalMs !== null && <span>total {duration(totalMs)}</span>}
      {tokens && (
        <span title={`${whole(tokens.in)} in, ${whole(tokens.out)} out`}>
          {plural(tokens.in + tokens.out, 'token')}
        </span>
      )}
      {cost !== null && <b>{money(cost)}</b>}
      <span className="tools">
        <CopyButton text={text} label="Copy answer" plain />
        <Button kind="plain" aria-label="Ask again" title="Ask again" onClick={onRetry} icon={RotateCcw} />
      </span>
      {guardrails.map(({ guardrail_id, phase, verdict, detail }) => (
        <span key={`${guardrail_id} ${phase} ${detail}`} className="fired">
          <Chip state={verdict === 'block' ? 'bad' : 'warn'}>{verdict}</Chip> {guardrail_id.replaceAll('_', ' ')} in the{' '}
          {phase.replaceAll('_', ' ')}: {detail}
        </span>
      ))}
      {warnings.map((warning) => (
        <small key={warning} className="problem">
          {warning}
        </small>
      ))}
    </footer>
  )
}

type Made = { type: string; url?: string; title?: string; mime_type?: string }

function Artifact({ artifact: { type, url, title } }: { artifact: Made }) {
  if (!url) return null
  const source = url.startsWith('/') ? at(url) : url
  const name = title ?? type
  // The policy forbids loading pictures from other hosts.
  const isOwn = source.startsWith('/') || source.startsWith(location.origin) || source.startsWith('data:')
  return (
    <figure>
      {isOwn && type === 'image' && <img src={source} alt={name} />}
      {isOwn && type === 'audio' && <audio src={source} controls aria-label={name} />}
      {isOwn && type === 'video' && <video src={source} controls aria-label={name} />}
      <figcaption>
        <a href={source} target="_blank" rel="noopener">
          {name}
        </a>
      </figcaption>
    </figure>
  )
}
