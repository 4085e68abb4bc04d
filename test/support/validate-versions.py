"""Reads {"versions", "manifests"} from stdin, prints a JSON list of errors by those versions' schemas."""

import json
import sys

import kubernetes_validate

asked = json.load(sys.stdin)
errors = []
for version in asked["versions"]:
    for manifest in asked["manifests"]:
        name = f"{manifest['kind']} {manifest['metadata']['name']}"
        try:
            used = kubernetes_validate.validate(manifest, version, strict=True)
            # An older version's schema is used if there is none of this one.
            if used != version:
                errors.append(f"{version}: there are schemas up to {used} only")
        except kubernetes_validate.ValidationError as error:
            path = ".".join(str(key) for key in error.path)
            errors.append(f"{version}: {name}: {path}: {error.message}")
        except kubernetes_validate.SchemaNotFoundError as error:
            errors.append(f"{version}: {name}: {error.message}")
json.dump(errors, sys.stdout)
