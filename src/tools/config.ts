import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const toolSettings = {
  systemTools: setting({
    env: 'SVC_SYSTEM_TOOLS',
    schema: t.String({ pattern: '^[a-z_, ]*$' }),
    default: '',
    about: 'System tools that are on, comma separated, such as web_fetch,code_execute; empty is all of them.',
  }),
} as const
