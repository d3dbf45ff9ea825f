import type { DeliveryRead, Retried, Webhook } from '../../../../../webhooks/schema'
import { useGet, useSend } from '../../shell/api'
import { Button, Chip, Code, CopyButton, End, Id, laidOut } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { duration, Time } from '../../ui/format'
import { Dialog } from '../../ui/overlay'
import { Failed, Shown } from '../../ui/states'

/** The same delivery as a command. Omits the signature, which differs each time. */
const curlOf = ({ url, headers, body }: DeliveryRead) =>
  `curl ${url} \\\n${Object.entries(headers)
    .map(([name, value]) => `  -H "${name}: ${value}" \\\n`)
    .join('')}  -d '${(body ?? '').replaceAll("'", `'\\''`)}'`

const PROBLEMS: Record<string, string> = {
  dns: 'the name of the server was not found',
  connect: 'the server could not be reached',
  tls: 'its certificate is not valid',
  timeout: 'it did not answer in time',
  reset: 'it closed the connection',
  not_allowed: 'this server may not call such an address',
  never_allowed: 'this server may not call such an address',
}
/** Why a delivery failed, in words. Null if it did not fail. */
export const problemOf = ({ error_message, http_status }: Pick<DeliveryRead, 'error_message' | 'http_status'>) =>
  error_message && (PROBLEMS[error_message] ?? (http_status ? `it answered ${http_status}` : error_message))

type Props = { webhook: Webhook; id: string; may: boolean; onClose(): void }

/** One attempt: the request, the answer, and whether another attempt follows. */
export function DeliveryDialog({ webhook, id, may, onClose }: Props) {
  const path = `/webhooks/${webhook.id}/deliveries/${id}`
  const delivery = useGet<DeliveryRead>(path)
  const retry = useSend<Retried, object>('POST', `${path}/retry`, ['/webhooks'])
  return (
    <Dialog title="A delivery" wide onClose={onClose}>
      <Shown of={delivery}>
        {(it) => (
          <>
            <Facts
              of={{
                Result: <Chip state={it.status === 'success' ? 'good' : 'bad'}>{it.http_status ?? it.status}</Chip>,
                Event: it.event_type,
                'Event id': <Id id={it.event_id} />,
                Sent: <Time at={it.created_at} />,
                Attempt: `${it.attempt}, took ${duration(it.duration_ms)}`,
                Problem: problemOf(it) ?? 'none',
                'Next attempt': it.next_retry_at ? <Time at={it.next_retry_at} /> : (it.ended ?? 'none'),
              }}
            />
            <h3>Headers</h3>
            <Code
              text={Object.entries(it.headers)
                .map((pair) => pair.join(': '))
                .join('\n')}
              label="headers"
            />
            <h3>Body</h3>
            {it.body === null ? (
              <p className="faint">The event is no longer stored.</p>
            ) : (
              <Code text={laidOut(it.body)} label="body" />
            )}
            {retry.error && <Failed problem={retry.error} />}
            {retry.data && (
              <p className="notice good" role="status">
                It is sent again, to the current address. The list of deliveries shows what came of it.
              </p>
            )}
            <End verb="Close" onClose={onClose}>
              <CopyButton text={curlOf(it)} label="Copy as curl" />
              {may && it.status === 'failed' && it.body !== null && (
                <Button busy={retry.isPending} onClick={() => retry.mutate({})}>
                  Send again
                </Button>
              )}
            </End>
          </>
        )}
      </Shown>
    </Dialog>
  )
}
