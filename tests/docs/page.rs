//! One page, as the registries show it.

use kontinuum::plugin::schema::Schema;

use crate::root;
use crate::section;

/// Makes pages.
pub(crate) struct Page;

impl Page {
    /// The front page.
    pub(crate) fn provider(schema: &Schema) -> String {
        let parts = [
            front_matter("kontinuum Provider", &schema.description),
            format!("# kontinuum Provider\n\n{}\n", schema.description),
            include_str!("index.md").to_owned(),
            example("examples/provider/provider.tf"),
            section::of(&schema.attributes),
        ];
        joined(parts)
    }

    /// A resource's page.
    pub(crate) fn resource(name: &str, schema: &Schema) -> String {
        let folder = format!("examples/resources/{name}");
        let parts = [
            front_matter(&format!("{name} Resource - kontinuum"), &schema.description),
            format!("# {name} (Resource)\n\n{}\n", schema.description),
            example(&format!("{folder}/resource.tf")),
            section::of(&schema.attributes),
            import(&folder),
        ];
        joined(parts)
    }

    /// A data source's page.
    pub(crate) fn data_source(name: &str, schema: &Schema) -> String {
        let parts = [
            front_matter(&format!("{name} Data Source - kontinuum"), &schema.description),
            format!("# {name} (Data Source)\n\n{}\n", schema.description),
            example(&format!("examples/data-sources/{name}/data-source.tf")),
            section::of(&schema.attributes),
        ];
        joined(parts)
    }
}

fn joined(parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// Its first paragraph stands for the whole.
fn front_matter(title: &str, description: &str) -> String {
    let description = description.lines().next().unwrap_or_default();
    format!("---\npage_title: \"{title}\"\nsubcategory: \"\"\ndescription: |-\n  {description}\n---\n")
}

fn example(path: &str) -> String {
    format!("## Example Usage\n\n```terraform\n{}```\n", read(path))
}

fn import(folder: &str) -> String {
    format!(
        "## Import\n\nBy the name that the inventory has it under, with an `import` block:\n\n\
         ```terraform\n{}```\n\nor with the command:\n\n```shell\n{}```\n",
        read(&format!("{folder}/import.tf")),
        read(&format!("{folder}/import.sh")),
    )
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path))
        .unwrap_or_else(|error| panic!("expected {path}, which a page is made of: {error}"))
}
