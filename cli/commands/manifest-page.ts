/** Text of `svc-admin help manifest`: a sample manifest that passes review, with instructions as comments. */
export const MANIFEST_PAGE = `# A skill, whole. Keep it as a file and change it:
#
#   svc-admin help manifest > tides.yaml
#   svc-admin skills validate tides.yaml       checks it, and says who must read it
#   svc-admin skills submit tides.yaml         prints the id of the submission
#   svc-admin submissions approve ID --yes --reason "read"    where a person must
#   svc-admin skills install tide-tables --key "Dev laptop"
#   svc-admin try "When is high tide in Hollowport on Sunday?"

name: Tide tables                  # one line, up to 128 characters
slug: tide-tables                  # its name in addresses, for ever the same
version: 1.0.0                     # every new version is higher; submit it with --skill-id
description: Answers questions about tides in Hollowport.
category: domain                   # productivity, domain, integration, automation, creative
author:
  name: Mira                       # email and url if you like

# What the engine is told when the skill takes part, up to 20,000 characters.
systemPromptExtension: |
  Answer questions about tides from the tables. Name the harbour and the day.

# Files it quotes from: as here, or as files of those names beside this one. A person reads them first.
knowledge:
  - tides.md
knowledgeFiles:
  tides.md: |
    High tide in Hollowport on Sunday is at 07:42 and stands 4.1 metres.

    Low tide in Hollowport on Sunday is at 13:55.

# Takes part in every run without this; with it, when one of the words occurs.
trigger:
  type: keyword
  config:
    keywords: [tide, tides]

# What else there is, each with an example. Tools need the permission execute:tools; with an endpoint, which is
# called with {tool, arguments, request_id} as JSON, external:http too. A tool without one is shown to the caller.
# tools:
#   - name: book_boat
#     description: Books a boat at the harbour.
#     inputSchema: { type: object, properties: { day: { type: string } }, required: [day] }
#     requiresApproval: true       # runs only for callers who send metadata.approved_tools: [book_boat]
# permissions: [execute:tools]     # read:conversations, read:artifacts, write:artifacts, write:notes,
#                                  # external:http, execute:tools, autonomous:run
# modelPreference: svc-1-flash     # GET /models lists them
# configSchema: { type: object, properties: { units: { enum: [metres, feet] } } }
# hooks: { onInstall: "Greet whoever installs this and say what it can do." }
# readme, changelog, setupGuide: Markdown
# license: MIT
# keywords: [tides, harbour]       # words the store finds it by, up to 10
# repository: https://example.com/tides`
