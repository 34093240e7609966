"""What ``opcheck.yaml`` may say."""

from handbook.base import Page
from handbook.schema import FOLDER, keys, parts, read
from opcheck.model.policy import SCHEMA
from opcheck.settings.policy_file import starting_policy

_PAGE = """\
# Policy

{description} Its meaning is told in [a gate for pipelines](../gate.md); the schema is
[{file}](schemas/{file}).

{keys}
## What `opcheck init` writes

```yaml title="opcheck.yaml"
{template}```
"""


class Policy(Page):
    """``reference/policy.md``."""

    name = "policy"

    def text(self) -> str:
        """Every key, and the policy to start from."""
        path = FOLDER / f"{SCHEMA.replace('/', '-')}.json"
        schema = read(path)
        return _PAGE.format(
            description=schema["description"],
            file=path.name,
            keys="\n".join([keys(schema, "#"), *parts(schema)]),
            template=starting_policy(),
        )
