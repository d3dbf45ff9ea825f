import { useState } from 'react'
import type { ApiKeyWithSecret } from '../../../../../accounts/keys/schema'
import { useOwner } from '../../shell/api'
import { at } from '../../shell/boot'
import { curlOf, FIRST_CALL } from '../../shell/curl'
import { Button, Check, Code, Secret, saveFile } from '../../ui/controls'
import { type FormField, field } from '../../ui/fields'

const SCOPES = [
  ['completions', 'Answers, chat, images, audio, documents and research'],
  ['skills', 'Skills, canvases, workflows and hooks'],
  ['tools', 'Tools, code and browsers'],
  ['connectors', 'Webhooks, widgets and channels'],
  ['billing', 'Credit, usage exports and rate limits'],
] as const
/** Effect of parameters such as top_p in chats. */
export const CHAT_PARAMETERS = { by_base: 'as the base address says', honor: 'honored', ignore: 'ignored' } as const

const amount = { kind: 'cents', help: 'Empty: no cap.', empty: 'null', min: 0.01, half: true } as const
const rate = { kind: 'number', help: "Empty: the tier's limit.", empty: 'null', min: 1, step: 1, half: true } as const
/** Fields that a key's owner can set, at creation and later. */
export const KEY_FIELDS: readonly FormField[] = [
  field('name', 'Name', { help: 'Who or what uses it, such as “web shop”.', required: true }),
  field('scopes', 'Scopes', { kind: 'checks', choices: SCOPES }),
  field('monthly_cap_cents', 'Monthly cap, in dollars', amount),
  field('daily_cap_cents', 'Daily cap, in dollars', amount),
  field('rpm_limit', 'Requests per minute', rate),
  field('tpm_limit', 'Tokens per minute', rate),
  field('expires_at', 'Expires', { kind: 'until', empty: 'null' }),
  field('chat_parameters', 'Chat parameters', {
    kind: 'choice',
    choices: Object.entries(CHAT_PARAMETERS),
    help: 'Such as top_p, max_tokens and stop.',
  }),
  field('allowed_origins', 'Allowed origins', {
    kind: 'list',
    help: 'Origins such as https://app.example, separated by spaces. Empty: all.',
  }),
]
const ALL = { scopes: SCOPES.map(([scope]) => scope) }

/** All settings of a new key, then its secret. */
export function useNewKey() {
  const { id, name } = useOwner()
  return {
    lead: `Paid by ${id ? name : 'your personal account'}.`,
    fields: KEY_FIELDS,
    values: ALL,
    more: id ? { scope: 'org', org_id: id } : { scope: 'personal' },
    after: (made: ApiKeyWithSecret, close: () => void) => <NewSecret made={made} close={close} />,
  }
}

/** Shows the secret once: to copy, to download, and in a first call. */
export function NewSecret({ made: { key, name }, close }: { made: { key: string; name: string }; close(): void }) {
  const [isStored, setStored] = useState(false)
  const base = new URL(at('/api/v1'), location.origin).href
  const env = `SVC_API_KEY=${key}\nSVC_BASE_URL=${base}\n`
  return (
    <div className="form">
      <p className="notice good" role="status">
        “{name}” is ready. This is its secret: it is shown only now.
      </p>
      <Secret label="Secret" value={key}>
        <Button onClick={() => saveFile(new Blob([env], { type: 'text/plain' }), '.env')}>Download .env</Button>
      </Secret>
      <h3>A first call</h3>
      <Code text={curlOf('/completions', FIRST_CALL)} label="first call" />
      <Check label="I have stored it" checked={isStored} onChange={setStored} />
      <div className="actions end">
        <Button kind="primary" disabled={!isStored} onClick={close}>
          Done
        </Button>
      </div>
    </div>
  )
}
