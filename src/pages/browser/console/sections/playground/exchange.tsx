import { RotateCcw } from 'lucide-react'
import { Link } from 'wouter'
import { useOwner } from '../../shell/api'
import { at, DOCS } from '../../shell/boot'
import { Button, Chip, CopyButton } from '../../ui/controls'
import { duration, money, plural, whole } from '../../ui/format'
import { Markdown } from '../../ui/markdown'
import { Failed } from '../../ui/states'
import type { Exchange } from './column'

type Props = { exchange: Exchange; isLast: boolean; onRetry(): void; onPrompt(prompt: string): void }

/** A prompt, its answer as it comes, and what it took. */
export function ExchangeView({ exchange, isLast, onRetry, onPrompt }: Props) {
  const { body, text, tools, state, problem, done } = exchange
  return (
    <article className="exchange">
      <p className="prompt">{body.prompt}</p>
      {tools.map((tool, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a list that only grows
        <p key={`${n}-${tool.name}`} className="tool">
          <Chip state={tool.status === 'running' ? 'run' : tool.status === 'success' ? 'good' : 'bad'}>
            {tool.name}
          </Chip>{' '}
          <small>{tool.description}</small>
        </p>
      ))}
      {text ? <Markdown text={text} /> : state === 'runs' && <p className="faint">Waiting for the first words…</p>}
      {done?.artifacts.map((artifact, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a list that does not change
        <Artifact key={`${n}-${artifact.type}`} artifact={artifact as never} />
      ))}
      {problem && (
        <>
          <Failed problem={problem} docs={DOCS} retry={onRetry} />
          {problem.status === 402 && (
            <p className="faint">Credit is granted by your operator, or topped up under Billing.</p>
          )}
        </>
      )}
      <Took exchange={exchange} onRetry={onRetry} />
      {isLast && state === 'done' && done && done.follow_ups.length > 0 && (
        <div className="actions">
          {done.follow_ups.map(({ label, prompt }) => (
            <Button key={label} onClick={() => onPrompt(prompt)}>
              {label}
            </Button>
          ))}
        </div>
      )}
    </article>
  )
}

/** What chose the mode, in words. */
const SOURCES = {
  rule: 'a rule of yours',
  heuristic: 'words in the prompt',
  local: 'what the prompt looks like',
  classifier: 'the classifier',
  default: 'your default',
}

/** Which engine answered and why, how long it took, and what it cost. */
function Took({
  exchange: { meta, done, state, firstMs, totalMs, text },
  onRetry,
}: {
  exchange: Exchange
  onRetry(): void
}) {
  const owner = useOwner()
  if (state === 'runs' || !meta) return null
  const { model, resolved_mode, routing, request_id } = meta
  const reason = routing?.reasoning ?? routing?.source
  return (
    <footer className="took">
      {state === 'stopped' && <Chip state="off">stopped</Chip>}
      {done?._cached && <Chip state="good">cached</Chip>}
      <span title={reason ?? undefined}>
        <Link href={`/${owner.slug}/requests/${request_id}`}>{model.id}</Link> · {resolved_mode}
        {routing && routing.source !== 'explicit' && `, chosen by ${SOURCES[routing.source]}`}
      </span>
      {firstMs !== null && <span>first token {duration(firstMs)}</span>}
      {totalMs !== null && <span>total {duration(totalMs)}</span>}
      {done && (
        <span title={`${whole(done.usage.prompt_tokens)} in, ${whole(done.usage.completion_tokens)} out`}>
          {plural(done.usage.total_tokens, 'token')}
        </span>
      )}
      {done && <b>{money(done.usage.cost_cents)}</b>}
      <span className="tools">
        <CopyButton text={text} label="Copy answer" plain />
        <Button kind="plain" aria-label="Ask again" title="Ask again" onClick={onRetry}>
          <RotateCcw size={16} aria-hidden="true" />
        </Button>
      </span>
      {done?.warnings?.map((warning) => (
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
  // Pictures of other hosts are not loaded: the policy forbids it.
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
