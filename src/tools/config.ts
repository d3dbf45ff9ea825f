import { setting } from '../kernel/config'
import { form } from '../kernel/form'
import { t } from '../kernel/schema'

export const toolSettings = {
  systemTools: setting({
    env: 'SVC_SYSTEM_TOOLS',
    schema: t.String({
      pattern: form('^[a-z_, ]*$', 'names of tools, separated by commas, such as web_fetch,code_execute, or empty'),
    }),
    default: '',
    about: 'Enabled system tools, separated by commas, such as web_fetch,code_execute. Empty enables all.',
  }),
} as const
