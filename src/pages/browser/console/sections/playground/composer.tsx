import { Paperclip, Send, Square, X } from 'lucide-react'
import { type ReactNode, type RefObject, useRef, useState } from 'react'
import type { ApiKey } from '../../../../../accounts/keys/schema'
import type { UsageReport } from '../../../../../usage/schema'
import { useGet, useMay, useOwner } from '../../shell/api'
import { Button, Menu, SendForm } from '../../ui/controls'
import { money } from '../../ui/format'
import type { Given } from './apis'

const MAX_FILES = 10
const MAX_MB = 15
/** Type for files to which the browser assigns none, as some do for text files. */
const UNKNOWN = 'text/plain'

const readFile = (file: File): Promise<Given> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onerror = () => reject(reader.error)
    reader.onload = () => {
      const bytes = String(reader.result).replace(/^data:[^,]*,/, '')
      const type = file.type || UNKNOWN
      resolve({ name: file.name, type, url: `data:${type};base64,${bytes}` })
    }
    reader.readAsDataURL(file)
  })

type Props = {
  field: RefObject<HTMLTextAreaElement | null>
  text: string
  onText(text: string): void
  files: readonly Given[]
  onFiles(files: readonly Given[]): void
  isRunning: boolean
  onSend(to: 'chosen' | 'all'): void
  onStop(): void
  /** Why the prompt cannot be sent. Null if it can. */
  refusal: string | null
  children: ReactNode
}

/** The field for a prompt, with files that are picked, pasted or dropped. */
export function Composer({ field, text, onText, files, onFiles, isRunning, onSend, onStop, refusal, children }: Props) {
  const picker = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const add = async (list: FileList | null) => {
    const found = [...(list ?? [])]
    if (!found.length) return
    const large = found.find(({ size }) => size > MAX_MB * 1_000_000)
    if (large) return setProblem(`${large.name} is larger than ${MAX_MB} MB.`)
    if (files.length + found.length > MAX_FILES) return setProblem(`At most ${MAX_FILES} files go with one prompt.`)
    setProblem(null)
    onFiles([...files, ...(await Promise.all(found.map(readFile)))])
  }
  const wrong = problem ?? refusal
  return (
    <SendForm
      className="composer"
      onSend={() => onSend('chosen')}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        void add(event.dataTransfer.files)
      }}
    >
      {files.length > 0 && (
        <ul className="attached" aria-label="Files of the prompt">
          {files.map(({ name, type, url }, n) => (
            <li key={url}>
              {type.startsWith('image/') && <img src={url} alt="" />}
              {name}
              <Button
                kind="plain"
                aria-label={`Remove ${name}`}
                onClick={() => onFiles(files.toSpliced(n, 1))}
                icon={X}
              />
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={field}
        aria-label="Prompt"
        placeholder="Write a prompt. Enter sends it."
        title="Shift+Enter starts a new line"
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        value={text}
        onChange={({ target }) => onText(target.value)}
        onPaste={({ clipboardData, preventDefault }) => {
          if (!clipboardData.files.length) return
          preventDefault()
          void add(clipboardData.files)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault()
            onSend(event.ctrlKey || event.metaKey ? 'all' : 'chosen')
          } else if (event.key === 'Escape' && isRunning) onStop()
        }}
      />
      {wrong && (
        <p className="problem" role="alert">
          {wrong}
        </p>
      )}
      <div className="composer-foot">
        {children}
        <span className="actions">
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label="Files"
            onChange={({ target }) => {
              void add(target.files).then(() => {
                target.value = ''
              })
            }}
          />
          <Button
            kind="plain"
            aria-label="Attach files"
            title="Attach files"
            onClick={() => picker.current?.click()}
            icon={Paperclip}
          />
          {isRunning ? (
            <Button onClick={onStop} icon={Square}>
              Stop
            </Button>
          ) : (
            <Button type="submit" kind="primary" icon={Send}>
              Send
            </Button>
          )}
        </span>
      </div>
    </SendForm>
  )
}

/** Shows who pays for the next call, its limits, and the remaining credit. A key has its own limits. */
export function Pays({ chosen, onChoose }: { chosen: string; onChoose(key: string): void }) {
  const { id: owner, name } = useOwner()
  const mayUse = useMay('manageApiKeys')
  const usage = useGet<UsageReport>('/usage', { scope: 'user' }, { everyMs: 60_000 })
  const listed = useGet<{ keys: ApiKey[] }>('/keys', { limit: 100 })
  const left = usage.data?.balance.balance_cents
  const keys = (listed.data?.keys ?? []).filter(
    ({ org_id, status, scopes }) =>
      org_id === owner && (org_id === null || mayUse) && status !== 'revoked' && scopes.includes('completions'),
  )
  const key = keys.find(({ id }) => id === chosen)
  return (
    <span className="pays">
      <Menu
        {...{ 'aria-label': 'Who pays', value: key?.id ?? '', onChange: onChoose }}
        choices={[
          ['', 'Your personal account'],
          ...keys.map(({ id, name: called, prefix }) => [id, `Key ${called} (${prefix}…)`] as const),
        ]}
      />
      <small>
        {key
          ? `${owner === null ? 'Your personal account' : name} pays, within the caps, rules and limits of the key.`
          : `Pays. Limit: your session, 120 calls a minute.${left === undefined ? '' : ` Credit left: ${money(left)}.`}`}
      </small>
    </span>
  )
}
