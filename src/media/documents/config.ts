import { setting } from '../../kernel/config'
import { t } from '../../kernel/schema'

export const documentSettings = {
  documentWaitS: setting({
    env: 'SVC_DOCUMENT_WAIT_SECONDS',
    schema: t.Integer({ minimum: 0, maximum: 90 }),
    default: 15,
    about: 'Seconds to wait for the layout of a document. Longer layouts continue as a job.',
  }),
} as const
