//! All templates of a chart by name, and those that a text given to `tpl` adds for itself.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::ast::Template;

/// Templates by name; a set may lie over another.
#[derive(Debug, Default)]
pub(crate) struct Set {
    below: Option<Rc<Self>>,
    own: BTreeMap<Rc<str>, Rc<Template>>,
}

impl Set {
    /// A set over another, whose templates it sees.
    pub(crate) fn over(below: &Rc<Self>) -> Self {
        Self { below: Some(Rc::clone(below)), own: BTreeMap::new() }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Rc<Template>> {
        self.own.get(name).or_else(|| self.below.as_ref()?.find(name))
    }

    /// Adds a template; a blank one never replaces another.
    pub(crate) fn add(&mut self, template: Template) -> Rc<Template> {
        let template = Rc::new(template);
        if !(template.is_blank() && self.find(&template.name).is_some()) {
            self.own.insert(Rc::clone(&template.name), Rc::clone(&template));
        }
        template
    }
}
