import { form } from '../kernel/form'

/** What the API may listen on. Nothing would be every network. */
export const HOST_PATTERN = form('^[^\\s[\\]/]+$', 'an address such as 127.0.0.1, 0.0.0.0 or ::1')
